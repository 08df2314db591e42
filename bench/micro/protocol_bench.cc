// What parsing a request and finding the end of a reply cost: items are requests or replies.
#include <string>
#include <string_view>

#include <benchmark/benchmark.h>

#include "protocol/command_writer.h"
#include "protocol/reply_scanner.h"
#include "protocol/reply_writer.h"
#include "protocol/request_parser.h"

namespace ringway::protocol {
namespace {

constexpr int kPipeline = 64;  // frames in a buffer, as one read of a busy connection brings

std::string Repeated(std::string_view frame, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out.append(frame);
  return out;
}

std::string Command(std::initializer_list<std::string_view> args) {
  std::string out;
  AppendCommand(out, args);
  return out;
}

void ParseAll(benchmark::State& state, const std::string& frame) {
  const std::string buffer = Repeated(frame, kPipeline);
  const RequestLimits limits;
  RequestParser parser;
  for (auto _ : state) {
    std::string_view data = buffer;
    size_t arguments = 0;
    while (!data.empty() && parser.Parse(data, limits) == ParseStatus::kComplete) {
      arguments += parser.request().size() + parser.request()[parser.request().size() - 1].size();
      data.remove_prefix(parser.consumed());
    }
    benchmark::DoNotOptimize(arguments);
  }
  state.SetItemsProcessed(state.iterations() * kPipeline);
}

void BM_ParseGet(benchmark::State& state) { ParseAll(state, Command({"GET", "memtier-1234567"})); }
BENCHMARK(BM_ParseGet);

void BM_ParseSet32(benchmark::State& state) {
  ParseAll(state, Command({"SET", "memtier-1234567", std::string(32, 'v')}));
}
BENCHMARK(BM_ParseSet32);

void BM_ParseSet4KEx(benchmark::State& state) {
  ParseAll(state, Command({"SET", "memtier-1234567", std::string(4096, 'v'), "EX", "60"}));
}
BENCHMARK(BM_ParseSet4KEx);

void BM_ParseMget100(benchmark::State& state) {
  std::string frame;
  AppendHeader(frame, 101);
  AppendArg(frame, "MGET");
  for (int i = 0; i < 100; ++i) AppendArg(frame, "memtier-" + std::to_string(1000000 + i));
  ParseAll(state, frame);
}
BENCHMARK(BM_ParseMget100);

void BM_ParseInlinePing(benchmark::State& state) { ParseAll(state, "PING\r\n"); }
BENCHMARK(BM_ParseInlinePing);

void ScanAll(benchmark::State& state, const std::string& reply) {
  const std::string buffer = Repeated(reply, kPipeline);
  ReplyScanner scanner;
  for (auto _ : state) {
    std::string_view data = buffer;
    size_t replies = 0;
    while (!data.empty()) {
      const ReplyScanner::Result result = scanner.Scan(data);
      if (result.status != ParseStatus::kComplete) break;
      replies += static_cast<size_t>(scanner.type() == '$');
      data.remove_prefix(result.consumed);
    }
    benchmark::DoNotOptimize(replies);
  }
  state.SetItemsProcessed(state.iterations() * kPipeline);
}

void BM_ScanOk(benchmark::State& state) { ScanAll(state, "+OK\r\n"); }
BENCHMARK(BM_ScanOk);

void BM_ScanInteger(benchmark::State& state) { ScanAll(state, ":1234567\r\n"); }
BENCHMARK(BM_ScanInteger);

void BM_ScanNull(benchmark::State& state) { ScanAll(state, "$-1\r\n"); }
BENCHMARK(BM_ScanNull);

void BM_ScanBulk32(benchmark::State& state) {
  std::string reply;
  ReplyWriter(reply, 3).Bulk(std::string(32, 'v'));
  ScanAll(state, reply);
}
BENCHMARK(BM_ScanBulk32);

void BM_ScanBulk4K(benchmark::State& state) {
  std::string reply;
  ReplyWriter(reply, 3).Bulk(std::string(4096, 'v'));
  ScanAll(state, reply);
}
BENCHMARK(BM_ScanBulk4K);

void BM_ScanArray100(benchmark::State& state) {
  std::string reply;
  ReplyWriter writer(reply, 3);
  writer.Array(100);
  for (int i = 0; i < 100; ++i) writer.Bulk("value-" + std::to_string(1000000 + i));
  ScanAll(state, reply);
}
BENCHMARK(BM_ScanArray100);

void BM_ScanMapOfArrays(benchmark::State& state) {
  std::string reply;
  ReplyWriter writer(reply, 3);
  writer.Map(10);
  for (int i = 0; i < 10; ++i) {
    writer.Bulk("stream-" + std::to_string(i));
    writer.Array(2);
    writer.Bulk("1526985054069-0");
    writer.Array(2);
    writer.Bulk("field");
    writer.Integer(i);
  }
  ScanAll(state, reply);
}
BENCHMARK(BM_ScanMapOfArrays);

}  // namespace
}  // namespace ringway::protocol
