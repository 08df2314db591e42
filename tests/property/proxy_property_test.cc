// Promises of the proxy's core for any input: RapidCheck makes the inputs and shrinks those that fail.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "proxy/route/scan_cursor.h"
#include "tests/sim/core_world.h"

namespace ringway::proxy {
namespace {

// Plays all shards until nobody waits: a key's value is "<key>!", a key of an odd length is missing.
void Serve(CoreWorld& world, size_t piece) {
  bool busy = true;
  while (busy) {
    busy = false;
    for (size_t shard = 0; shard < 3; ++shard) {
      for (const auto& request : world.TakeRequests(shard)) {
        busy = true;
        std::string reply = request[0] == "MGET" ? "*" + std::to_string(request.size() - 1) + "\r\n" : "";
        for (size_t i = 1; i < request.size(); ++i) {
          reply += request[i].size() % 2 == 1 ? "$-1\r\n" : Bulk(request[i] + "!");
        }
        if (request[0] == "DEL") reply = ":" + std::to_string(request.size() - 1) + "\r\n";
        world.Reply(shard, reply, piece);
      }
    }
  }
}

std::string ValueOf(const std::string& key) { return key.size() % 2 == 1 ? "$-1\r\n" : Bulk(key + "!"); }

std::vector<std::string> SomeKeys() {
  return *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(rc::gen::string<std::string>()));
}

RC_GTEST_PROP(ProxyProperty, MgetAnswersAsOneServerWould, ()) {
  CoreWorld world;
  FakeClient client(world.environment, 1);
  const std::vector<std::string> keys = SomeKeys();
  std::vector<std::string> request = {"MGET"};
  request.insert(request.end(), keys.begin(), keys.end());
  client.Send(Command(request), *rc::gen::inRange<size_t>(1, 50));
  Serve(world, *rc::gen::inRange<size_t>(1, 50));
  std::string wanted = "*" + std::to_string(keys.size()) + "\r\n";
  for (const std::string& key : keys) wanted += ValueOf(key);
  RC_ASSERT(client.Take() == wanted);
}

RC_GTEST_PROP(ProxyProperty, DelCountsEveryKeyOnce, ()) {
  CoreWorld world;
  FakeClient client(world.environment, 1);
  std::vector<std::string> request = {"DEL"};
  for (const std::string& key : SomeKeys()) request.push_back(key);
  client.Send(Command(request));
  Serve(world, 1000);
  RC_ASSERT(client.Take() == ":" + std::to_string(request.size() - 1) + "\r\n");
}

RC_GTEST_PROP(ProxyProperty, APipelineInAnySplitKeepsItsOrder, ()) {
  CoreWorld world;
  FakeClient client(world.environment, 1);
  const std::vector<std::string> keys = SomeKeys();
  std::string requests;
  std::string wanted;
  for (const std::string& key : keys) {
    requests += Command({"GET", key}) + "PING\r\n";
    wanted += ValueOf(key) + "+PONG\r\n";
  }
  client.Send(requests, *rc::gen::inRange<size_t>(1, 100));
  Serve(world, *rc::gen::inRange<size_t>(1, 100));
  RC_ASSERT(client.Take() == wanted);
}

RC_GTEST_PROP(ProxyProperty, AScanCursorComesBackAsItWas, ()) {
  const ScanCursor cursor{
      *rc::gen::inRange<uint32_t>(0, 1u << ScanCursor::kShardBits),
      *rc::gen::element(ScanCursor::Part::kFirst, ScanCursor::Part::kFirstMoving, ScanCursor::Part::kSecond),
      *rc::gen::inRange<uint8_t>(0, 127), *rc::gen::inRange<uint64_t>(0, ScanCursor::kMaxInner)};
  const ScanCursor back = ScanCursor::Decode(*ParseCursor(std::to_string(cursor.Encode())));
  RC_ASSERT(back.shard_id == cursor.shard_id);
  RC_ASSERT(back.part == cursor.part);
  RC_ASSERT(back.mark == cursor.mark);
  RC_ASSERT(back.inner == cursor.inner);
}

}  // namespace
}  // namespace ringway::proxy
