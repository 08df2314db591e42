// What it costs to find a command's row and its keys: items are requests.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "protocol/command_keys.h"
#include "protocol/command_table.h"
#include "protocol/command_writer.h"

namespace ringway::protocol {
namespace {

// Names come from client buffers one after the other, so neither their length nor their row is foreseen.
void FindCommands(benchmark::State& state, const std::vector<std::string_view>& names) {
  size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(FindCommand(names[next]));
    if (++next == names.size()) next = 0;
  }
  state.SetItemsProcessed(state.iterations());
}

std::vector<std::string_view> CommonNames() {
  return {"GET",    "SET",  "HGET", "get",     "INCR", "LPUSH", "MGET",
          "EXPIRE", "ZADD", "set",  "HGETALL", "SADD", "DEL"};
}

std::vector<std::string_view> AllNames() {
  std::vector<std::string_view> names;
  for (const CommandRow& row : AllCommands()) {
    if (row.parent == CommandRow::kNoRow) names.push_back(row.name);
  }
  return names;
}

BENCHMARK_CAPTURE(FindCommands, common, CommonNames());
BENCHMARK_CAPTURE(FindCommands, all_240, AllNames());
BENCHMARK_CAPTURE(FindCommands, unknown, std::vector<std::string_view>{"FT.SEARCH", "JSON.GET", "NOSUCH"});

void FindKeysOf(benchmark::State& state, const std::vector<std::string_view>& words) {
  std::string frame;
  AppendHeader(frame, words.size());
  std::vector<Arg> args;
  for (const std::string_view word : words) {
    AppendArg(frame, word);
    const auto length = static_cast<uint32_t>(word.size());
    args.push_back({static_cast<uint32_t>(frame.size()) - 2 - length, length});
  }
  const RequestView request(frame, args);
  const CommandRow& row = *FindCommand(words[0]);
  KeyList keys;
  for (auto _ : state) {
    benchmark::DoNotOptimize(FindKeys(row, request, &keys));
    benchmark::DoNotOptimize(keys.begin());
  }
  state.SetItemsProcessed(state.iterations());
}

using Words = std::vector<std::string_view>;
BENCHMARK_CAPTURE(FindKeysOf, get, Words{"GET", "key"});
BENCHMARK_CAPTURE(FindKeysOf, mget_10, Words{"MGET", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"});
BENCHMARK_CAPTURE(FindKeysOf, eval_2, Words{"EVAL", "script", "2", "a", "b"});
BENCHMARK_CAPTURE(FindKeysOf, xread_2, Words{"XREAD", "COUNT", "10", "STREAMS", "a", "b", "0", "0"});
BENCHMARK_CAPTURE(FindKeysOf, sort_store, Words{"SORT", "k", "BY", "w_*", "GET", "#", "STORE", "d"});

}  // namespace
}  // namespace ringway::protocol
