// A real twemproxy writes keys to real shards through each of its hashes and distributions; the ring must
// have foretold the shard of every key.

#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ring/hash_ring.h"
#include "tests/support/child_process.h"
#include "tests/support/redis_server.h"

namespace ringway::test {
namespace {

using ring::Distribution;
using ring::HashFunction;
using ring::HashRing;
using ring::Member;
using ring::RingOptions;

constexpr int kShards = 5;
constexpr int kKeys = 300;

// One of twemproxy's pools and the ring that should place keys as it does.
struct Pool {
  std::string name;
  RingOptions options;
  std::vector<Member> members;
};

std::vector<std::string> PlacedKeys() {
  std::mt19937_64 random = TestRandom();
  std::vector<std::string> keys;
  for (int i = 0; i < kKeys; ++i) {
    std::string key = "user:" + std::to_string(i);
    if (i % 3 == 1) key = "x{" + std::to_string(i) + "}" + std::to_string(i * i);
    if (i % 3 == 2) {
      // Bytes of every kind and every length modulo a hash's block; never empty.
      key.resize(1 + i % 37);
      for (char& c : key) c = static_cast<char>(random());
      key += "{}}{"[i % 4];
    }
    keys.push_back(key);
  }
  return keys;
}

std::vector<Pool> Pools(const std::vector<std::unique_ptr<RedisServer>>& shards) {
  const double weights[kShards] = {1, 3, 1, 2, 7};
  const char* names[kShards] = {"west-10", "west-9", "east", "cache", "a"};
  std::vector<Pool> pools;
  for (Distribution distribution : {Distribution::kKetama, Distribution::kModula}) {
    for (HashFunction hash : ring::AllHashFunctions()) {
      if (hash == HashFunction::kXxh3) continue;
      for (bool named : {false, true}) {
        Pool pool;
        pool.name = std::string(Name(distribution)) + "_" + std::string(Name(hash)) + (named ? "_n" : "_a");
        pool.options.distribution = distribution;
        pool.options.hash = hash;
        for (int i = 0; i < kShards; ++i) {
          pool.members.push_back({named ? names[i] : "", shards[i]->address(), named ? weights[i] : 1});
        }
        pools.push_back(pool);
      }
    }
  }
  return pools;
}

void WriteConfiguration(const std::vector<Pool>& pools, const TempDir& directory) {
  std::ofstream file(directory.File("nutcracker.yml"));
  for (const Pool& pool : pools) {
    file << pool.name << ":\n  listen: " << directory.File(pool.name)
         << "\n  redis: true\n  hash: " << Name(pool.options.hash)
         << "\n  distribution: " << Name(pool.options.distribution) << "\n  hash_tag: \""
         << pool.options.hash_tag << "\"\n  servers:\n";
    for (const Member& member : pool.members) {
      file << "   - " << member.address << ":" << static_cast<int>(member.weight)
           << (member.name.empty() ? "" : " ") << member.name << "\n";
    }
  }
}

// Writes the keys through twemproxy with the pool's name as their value, then asks each shard which of them
// it has: values of other pools do not count.
void CheckPool(const Pool& pool, const std::string& address, const std::vector<std::string>& keys,
               const std::vector<std::unique_ptr<RedisServer>>& shards) {
  std::vector<Command> writes;
  for (const std::string& key : keys) writes.push_back({"SET", key, pool.name});
  RespClient client(address);
  for (const Reply& reply : client.Pipeline(writes)) ASSERT_TRUE(reply.IsOk()) << reply;

  const HashRing ring(pool.members, pool.options);
  Command read = {"MGET"};
  read.insert(read.end(), keys.begin(), keys.end());
  size_t found = 0;
  for (uint32_t shard = 0; shard < shards.size(); ++shard) {
    const Reply values = shards[shard]->Do(read);
    ASSERT_EQ(values.elements.size(), keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      if (values.elements[i].text != pool.name) continue;
      ++found;
      ASSERT_EQ(ring.Locate(keys[i]), shard) << ::testing::PrintToString(keys[i]);
    }
  }
  ASSERT_EQ(found, keys.size());
}

TEST(NutcrackerPlacement, EveryHashAndDistributionPutsKeysWhereTwemproxyPutsThem) {
  std::vector<std::unique_ptr<RedisServer>> shards;
  for (int i = 0; i < kShards; ++i) {
    shards.push_back(std::make_unique<RedisServer>(RedisServer::Later{}, std::vector<std::string>{}));
  }
  for (const auto& shard : shards) shard->WaitReady();

  const std::vector<Pool> pools = Pools(shards);
  ASSERT_EQ(pools.size(), 48u);
  const TempDir directory;
  WriteConfiguration(pools, directory);
  const ReservedPort statistics;
  ChildProcess nutcracker;
  nutcracker.Start({"/usr/sbin/nutcracker", "--conf-file=" + directory.File("nutcracker.yml"),
                    "--stats-addr=127.0.0.1", "--stats-port=" + std::to_string(statistics.port())},
                   directory.File("log"));
  const std::string last = "unix:" + directory.File(pools.back().name);
  ASSERT_TRUE(Eventually([&] {
    return !nutcracker.running() || RespClient(last).Do({"SET", "ready", "1"}).IsOk();
  })) << ReadFile(directory.File("log"));
  ASSERT_TRUE(nutcracker.running()) << "nutcracker (Debian's package) must be installed: "
                                    << ReadFile(directory.File("log"));

  const std::vector<std::string> keys = PlacedKeys();
  for (const Pool& pool : pools) {
    SCOPED_TRACE(pool.name);
    CheckPool(pool, "unix:" + directory.File(pool.name), keys, shards);
  }
}

}  // namespace
}  // namespace ringway::test
