// What a fence goes by.
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/support/cluster.h"
#include "tests/support/test_environment.h"

namespace ringway::test {
namespace {

// The names in CLIENT LIST that are the proxy's.
std::multiset<std::string> ProxyNames(RedisServer& server) {
  std::multiset<std::string> names;
  std::istringstream list(server.Do({"CLIENT", "LIST"}).text);
  for (std::string word; list >> word;) {
    if (word.starts_with("name=ringway:")) names.insert(word.substr(5));
  }
  return names;
}

TEST(ConnectionNames, ConnectionOfAWorkerHasNoNameOrAnothersName) {
  ClusterOptions options;
  options.shards = 1;
  options.threads = 2;
  Cluster cluster(options);
  RespClient client = cluster.Connect();
  client.Do({"SELECT", "3"});
  EXPECT_TRUE(client.Do({"SET", "k", "v"}).IsOk());
  // One for each worker, and one for the other database.
  std::multiset<std::string> names;
  ASSERT_TRUE(Eventually([&] { return (names = ProxyNames(cluster.shard(0))).size() >= 3; }));
  std::set<std::string> prefixes;
  for (const std::string& name : names) prefixes.insert(name.substr(0, name.rfind(':')));
  EXPECT_EQ(prefixes.size(), 1U) << "proxy and run are the same for all";
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size()) << "numbers are not";
}

TEST(ConnectionNames, ServerThatForbidsThemIsNotServed) {
  ClusterOptions options;
  options.shards = 1;
  Cluster cluster(options);
  cluster.shard(0).Do({"ACL", "SETUSER", "default", "-client"});
  RespClient client = cluster.Connect();
  client.Do({"SELECT", "3"});
  EXPECT_TRUE(client.Do({"SET", "k", "v"}).IsOk());
}

}  // namespace
}  // namespace ringway::test
