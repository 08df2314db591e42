// Any bytes of two clients, in any split, into sessions and router over shards that answer. Whatever comes,
// each client must get whole replies, and nothing may stay behind when all have gone.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/reply_scanner.h"
#include "tests/sim/core_world.h"

namespace ringway::proxy {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

// What fits the form of a shard's answer, if not its meaning.
std::string AnswerOf(const std::vector<std::string>& request, uint8_t choice) {
  if (choice % 11 == 0) return "-ERR no\r\n";
  if (choice % 13 == 0) return "-NOSCRIPT no\r\n";
  if (request[0] == "SCAN" || request[0] == "scan") return "*2\r\n$1\r\n7\r\n*1\r\n$1\r\nk\r\n";
  switch (choice % 4) {
    case 0:
      return ":3\r\n";
    case 1:
      return Bulk(std::string(choice * 300u, 'v'));
    case 2:
      return "*2\r\n$1\r\na\r\n:1\r\n";
    default:
      return "$-1\r\n";
  }
}

void Answer(CoreWorld& world, uint8_t choice) {
  for (size_t shard = 0; shard < 3; ++shard) {
    for (uint8_t resp = 2; resp <= 3; ++resp) {
      for (const auto& request : world.TakeRequests(shard, 0, resp)) {
        const std::string answer = AnswerOf(request, choice);
        Require(FakeShard::Feed(world.session(shard, 0, resp), answer, 1 + choice * 7u));
      }
    }
  }
  world.EndTurn();
}

void CheckWhole(const std::string& received) {
  protocol::ReplyScanner scanner;
  std::string_view rest = received;
  while (!rest.empty()) {
    const auto result = scanner.Scan(rest);
    Require(result.status != protocol::ParseStatus::kError);
    rest.remove_prefix(result.consumed);
    if (result.status == protocol::ParseStatus::kNeedMore) break;
  }
  Require(!scanner.in_progress());
}

}  // namespace
}  // namespace ringway::proxy

// Records: client (1 bit), answer at once (1 bit), piece size and length in one byte, an answer's choice,
// bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringway::proxy;
  static CoreWorld world;
  world.environment.limits.pipeline = 50;
  world.local.databases = 1;  // one connection for each shard and RESP version to be played
  {
    FakeClient clients[] = {{world.environment, 1}, {world.environment, 2}};
    while (size > 2) {
      const uint8_t control = data[0];
      const uint8_t choice = data[1];
      const size_t length = std::min<size_t>(size - 2, control >> 2);
      FakeClient& client = clients[control & 1];
      client.Send({reinterpret_cast<const char*>(data + 2), length}, 1 + choice % 16);
      if ((control & 2) != 0) Answer(world, choice);
      data += 2 + length;
      size -= 2 + length;
      world.EndTurn();
    }
    for (int i = 0; i < 200; ++i) Answer(world, 3);
    for (FakeClient& client : clients) {
      Require(client.session().pending() == 0 || client.closed);
      if (!client.closed) CheckWhole(client.received);
    }
  }
  world.environment.scratch.Reset();
  world.EndTurn();
  Require(world.requests.in_use() == 0);
  Require(world.blocks.bytes_in_use() == 0);
  return 0;
}
