// Hot keys one by one: which commands copies answer, and how, what is not spread, and what is shown of it.
#include "tests/integration/hot_reads.h"

#include <algorithm>
#include <cstdlib>

#include "proxy/hotkey/bucket_name.h"
#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

// So often is a command asked: the key answers some, its copies the others.
constexpr int kTimes = 24;

class HotReads : public ProxyTest, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    if (DirectMode()) GTEST_SKIP() << "needs the proxy";
    Restart("hot_keys: {detect: false, patterns: [\"hot:*\"], max_staleness: 10s, buckets: 3}\n");
  }

  void Restart(const std::string& config) {
    ClusterOptions options;
    options.config = config;
    Start(std::move(options));
    if (GetParam() == 3) client_.Do({"HELLO", "3"});
  }

  RespClient Direct(const std::string& key) {
    RespClient direct(shard(cluster_->OwnerOf(key)).address());
    if (GetParam() == 3) direct.Do({"HELLO", "3"});
    return direct;
  }

  int64_t Figure(const std::string& field) {
    return std::atoll(InfoField(Connect().Do({"INFO", "hotkeys"}).text, field).c_str());
  }

  // Copies of `key` on the shard.
  std::vector<std::string> CopiesOn(size_t index, const std::string& key) {
    std::vector<std::string> copies;
    for (const Reply& name : shard(index).Do({"KEYS", key + "*"}).elements) {
      if (proxy::IsBucketName(name.text)) copies.push_back(name.text);
    }
    return copies;
  }

  // Reads until every shard but the key's own has a copy.
  void WaitSpread(const Command& read, const std::string& key) {
    const size_t owner = cluster_->OwnerOf(key);
    ASSERT_TRUE(Eventually([&] {
      for (int i = 0; i < kTimes; ++i) client_.Do(read);
      for (size_t i = 0; i < cluster_->size(); ++i) {
        if (i != owner && CopiesOn(i, key).empty()) return false;
      }
      return true;
    })) << Connect().Do({"INFO", "hotkeys"}).text;
  }

  // How often servers other than the key's own have run the command.
  int64_t CallsElsewhere(std::string command, const std::string& key) {
    std::transform(command.begin(), command.end(), command.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    int64_t calls = 0;
    for (size_t i = 0; i < cluster_->size(); ++i) {
      if (i == cluster_->OwnerOf(key)) continue;
      const std::string text = shard(i).Info("cmdstat_" + command);
      const size_t at = text.find("calls=");
      if (at != std::string::npos) calls += std::atoll(text.c_str() + at + 6);
    }
    return calls;
  }

  void MakeHot(const CopyType& type, const std::string& key) {
    for (const Command& write : type.writes) {
      const Reply reply = client_.Do(WithKey(write, key));
      ASSERT_FALSE(reply.IsError()) << write[0] << ": " << ToText(reply);
    }
    WaitSpread({"EXISTS", key}, key);
  }

  void ExpectLikeTheKey(const CopyRead& read, const std::string& key) {
    const Command command = WithKey(read.command, key);
    std::string line;
    for (const std::string& word : command) line += word + " ";
    SCOPED_TRACE(line);
    const std::string direct = Direct(key).DoRaw(command);
    const int64_t before = CallsElsewhere(command[0], key);
    for (int i = 0; i < kTimes && !HasFailure(); ++i) {
      const std::string answer = client_.DoRaw(command);
      switch (read.order) {
        case CopyOrder::kSame:
          EXPECT_EQ(answer, direct);
          break;
        case CopyOrder::kAny:
          EXPECT_THAT(ParseReply(answer).Texts(), UnorderedElementsAreArray(ParseReply(direct).Texts()));
          break;
        case CopyOrder::kChance:
          EXPECT_EQ(answer[0], direct[0]) << answer << " and " << direct;
      }
    }
    EXPECT_GT(CallsElsewhere(command[0], key), before) << "no copy was asked";
  }
};

TEST_P(HotReads, ACopyAnswersOtherThanItsKey) {
  Do({"MSET", "{hot:string}cold", "v", "cold", "v"});
  for (const CopyType& type : CopyTypes()) {
    const std::string key = "hot:" + type.name;
    ASSERT_NO_FATAL_FAILURE(MakeHot(type, key));
    for (const CopyRead& read : CopyReads()) {
      if (read.type != type.name) continue;
      // MGET and EXISTS with the cold key beside it: the key's own server cannot be asked for both.
      CopyRead one = read;
      std::replace(one.command.begin(), one.command.end(), std::string("cold"),
                   std::string("{hot:string}cold"));
      ExpectLikeTheKey(one, key);
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(Figure("hotkey_bucket_reads"), 500);
}

TEST_P(HotReads, ACommandThatTellsOfTheKeyItselfIsAnsweredByACopy) {
  const std::string key = "hot:itself";
  const int64_t kLife = 100'000;
  Do({"SET", key, "v", "PX", std::to_string(kLife)});
  ASSERT_NO_FATAL_FAILURE(WaitSpread({"GET", key}, key));
  for (int i = 0; i < kTimes; ++i) {
    const Reply life = Do({"PTTL", key});
    EXPECT_TRUE(life.integer > kLife - 30'000 && life.integer <= kLife) << "copies live shorter: " << life;
    EXPECT_EQ(Do({"OBJECT", "FREQ", key}).IsError(), true);
    EXPECT_EQ(Ask({"TTL", key}), ToText(Direct(key).Do({"TTL", key})));
    EXPECT_EQ(client_.DoRaw({"DUMP", key}), Direct(key).DoRaw({"DUMP", key}));
    EXPECT_EQ(Ask({"EVAL", "return KEYS[1]", "1", key}), "\"" + key + "\"");
    EXPECT_EQ(Ask({"EVAL_RO", "return redis.call('TTL', KEYS[1]) > 60", "1", key}), "1");
  }
}

TEST_P(HotReads, AReadThatChangesTheKeyGoesToACopy) {
  const std::string key = "hot:changed";
  Do({"SET", key, "v", "PX", "100000"});
  ASSERT_NO_FATAL_FAILURE(WaitSpread({"GET", key}, key));
  EXPECT_EQ(Ask({"GETEX", key, "PERSIST"}), "\"v\"");
  EXPECT_EQ(Ask({"TTL", key}), "-1");
  ASSERT_NO_FATAL_FAILURE(WaitSpread({"GET", key}, key));
  EXPECT_EQ(Ask({"GETDEL", key}), "\"v\"");
  for (int i = 0; i < kTimes; ++i) EXPECT_TRUE(Do({"GET", key}).null);
}

TEST_P(HotReads, AWriteThroughOneConnectionIsMissedByAnother) {
  const std::string key = "hot:written";
  RespClient writer = Connect();
  writer.Do({"SET", key, "first"});
  ASSERT_NO_FATAL_FAILURE(WaitSpread({"GET", key}, key));
  const int64_t before = Figure("hotkey_bucket_reads");
  for (int round = 0; round < 200; ++round) {
    const std::string value = std::to_string(round);
    ASSERT_TRUE(writer.Do({"SET", key, value}).IsOk());
    for (int i = 0; i < 40; ++i) ASSERT_EQ(Do({"GET", key}).text, value);
  }
  EXPECT_TRUE(Eventually([&] { return Figure("hotkey_bucket_reads") > before + 200; }))
      << before << " " << Figure("hotkey_bucket_reads");
}

TEST_P(HotReads, AKeyWithoutValueIsSpread) {
  const std::string missing = "hot:missing";
  const std::string other = "hot:other";
  Do({"SET", other, "v"});
  for (int i = 0; i < 20 * kTimes; ++i) EXPECT_TRUE(Do({"GET", missing}).null);
  ASSERT_NO_FATAL_FAILURE(WaitSpread({"GET", other}, other));
  for (int i = 0; i < 20 * kTimes; ++i) EXPECT_TRUE(Do({"GET", missing}).null);
  for (size_t i = 0; i < cluster_->size(); ++i) EXPECT_THAT(CopiesOn(i, missing), IsEmpty());
  Do({"SET", missing, "v"});
  ASSERT_NO_FATAL_FAILURE(WaitSpread({"GET", missing}, missing));
}

TEST_P(HotReads, AKeyTooLargeIsSpread) {
  Restart("hot_keys: {detect: false, patterns: [\"hot:*\"], max_bytes: 64kb, buckets: 3}\n");
  const std::string large = "hot:large";
  const std::string small = "hot:small";
  const std::string value(100'000, 'x');
  Do({"SET", large, value});
  Do({"SET", small, "v"});
  for (int i = 0; i < 20 * kTimes; ++i) EXPECT_EQ(Do({"GET", large}).text.size(), value.size());
  ASSERT_NO_FATAL_FAILURE(WaitSpread({"GET", small}, small));
  for (int i = 0; i < kTimes; ++i) EXPECT_EQ(Do({"GET", large}).text.size(), value.size());
  for (size_t i = 0; i < cluster_->size(); ++i) EXPECT_THAT(CopiesOn(i, large), IsEmpty());
  EXPECT_EQ(Ask({"SETRANGE", large, "0", "y"}), std::to_string(value.size()));
  EXPECT_EQ(Do({"GETRANGE", large, "0", "0"}).text, "y");
}

TEST_P(HotReads, CopiesShowInTheKeyspace) {
  const std::string key = "hot:shown";
  Do({"SET", key, "v"});
  Do({"SET", "cold", "v"});
  ASSERT_NO_FATAL_FAILURE(WaitSpread({"GET", key}, key));
  EXPECT_THAT(Do({"KEYS", "*"}).Texts(), UnorderedElementsAre(key, "cold"));
  EXPECT_EQ(Ask({"DBSIZE"}), "2");
  for (int i = 0; i < kTimes; ++i) {
    EXPECT_THAT(Do({"RANDOMKEY"}).text, ::testing::AnyOf(key, std::string("cold")));
  }
  std::string cursor = "0";
  std::vector<std::string> seen;
  do {
    const Reply reply = Do({"SCAN", cursor, "COUNT", "100"});
    ASSERT_EQ(reply.elements.size(), 2U) << ToText(reply);
    cursor = reply.elements[0].text;
    for (const std::string& name : reply.elements[1].Texts()) seen.push_back(name);
  } while (cursor != "0");
  EXPECT_THAT(seen, UnorderedElementsAre(key, "cold"));
}

TEST_P(HotReads, ACopyCanBeAddressed) {
  const std::string key = "hot:addressed";
  Do({"SET", key, "v"});
  ASSERT_NO_FATAL_FAILURE(WaitSpread({"GET", key}, key));
  const size_t other = (cluster_->OwnerOf(key) + 1) % cluster_->size();
  const std::vector<std::string> copies = CopiesOn(other, key);
  ASSERT_THAT(copies, Not(IsEmpty()));
  for (const Command& command : {Command{"GET", copies[0]}, Command{"SET", copies[0], "evil"},
                                 Command{"MGET", "cold", copies[0]}, Command{"DEL", copies[0]}}) {
    EXPECT_TRUE(Do(command).IsErrorStartingWith("ERR keys of this form are reserved")) << command[0];
  }
  for (int i = 0; i < kTimes; ++i) EXPECT_EQ(Do({"GET", key}).text, "v");
}

TEST_P(HotReads, ACopyStaysForGood) {
  Restart("hot_keys: {detect: false, patterns: [\"hot:*\"], max_staleness: 100ms, buckets: 3}\n");
  const std::string key = "hot:left";
  Do({"SET", key, "v"});
  ASSERT_NO_FATAL_FAILURE(WaitSpread({"GET", key}, key));
  EXPECT_TRUE(Eventually([&] {
    for (size_t i = 0; i < cluster_->size(); ++i) {
      if (!CopiesOn(i, key).empty()) return false;
    }
    return true;
  })) << "nobody reads it any more";
}

TEST_P(HotReads, AHotKeyIsNotShown) {
  const std::string key = "hot:known";
  Do({"SET", key, "v"});
  ASSERT_NO_FATAL_FAILURE(WaitSpread({"GET", key}, key));
  EXPECT_TRUE(Eventually([&] {
    for (int i = 0; i < kTimes; ++i) Do({"GET", key});
    return Figure("hotkeys_spread") >= 1 && Figure("hotkey_fills") >= 2 && Figure("hotkey_bucket_reads") > 0;
  })) << Connect().Do({"INFO", "hotkeys"}).text;
  const std::string info = Connect().Do({"INFO", "hotkeys"}).text;
  EXPECT_THAT(info, HasSubstr("key=" + key)) << info;
  EXPECT_THAT(info, HasSubstr("buckets=3")) << info;
  EXPECT_THAT(Do({"RING", "HOTKEYS"}).elements, Not(IsEmpty()));
  Do({"APPEND", key, "v"});
  EXPECT_TRUE(Eventually([&] { return Figure("hotkey_invalidations") > 0; }));
}

INSTANTIATE_TEST_SUITE_P(Resp, HotReads, ::testing::Values(2, 3),
                         [](const auto& version) { return std::to_string(version.param); });

}  // namespace
}  // namespace ringway::test
