// What every integration test starts from: three shards, the proxy, and a client.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster.h"

namespace ringway::test {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

// For tests of what a plain redis-server does not do; see DirectMode.
#define RINGWAY_NEEDS_PROXY() \
  if (DirectMode()) GTEST_SKIP() << "needs the proxy"

class ProxyTest : public ::testing::Test {
 protected:
  void SetUp() override { Start({}); }

  // Also for tests that want other options than the default: the processes of SetUp end first.
  void Start(ClusterOptions options) {
    cluster_ = std::make_unique<Cluster>(std::move(options));
    client_ = cluster_->Connect();
  }

  // The answer on the test's first connection, in the notation of ToText.
  std::string Ask(const Command& command) { return ToText(client_.Do(command)); }
  Reply Do(const Command& command) { return client_.Do(command); }
  RespClient Connect() const { return cluster_->Connect(); }
  RedisServer& shard(size_t index) { return cluster_->shard(index); }

  // SETs count keys prefix0, prefix1, ... to their own names.
  std::vector<std::string> Fill(size_t count, const std::string& prefix = "key:") {
    std::vector<std::string> keys;
    std::vector<Command> commands;
    for (size_t i = 0; i < count; ++i) {
      keys.push_back(prefix + std::to_string(i));
      commands.push_back({"SET", keys.back(), keys.back()});
    }
    for (const Reply& reply : client_.Pipeline(commands)) EXPECT_EQ(ToText(reply), "+OK");
    return keys;
  }

  std::unique_ptr<Cluster> cluster_;
  RespClient client_;
};

// The same without a start: each test gives its options to Start.
class CustomProxyTest : public ProxyTest {
 protected:
  void SetUp() override {}
};

}  // namespace ringway::test
