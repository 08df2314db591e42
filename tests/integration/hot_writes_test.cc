// Every command that writes, on a key of which copies are in use: whoever reads next sees what was written.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "protocol/command_table.h"
#include "proxy/hotkey/bucket_name.h"
#include "tests/integration/hot_reads.h"
#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

struct Row {
  const char* type;   // of K, the hot key
  const char* other;  // type of O, which shares its shard; empty: there is none
  const char* line;
};

constexpr Row kRows[] = {
    {"string", "", "APPEND K x"},
    {"number", "", "DECR K"},
    {"number", "", "DECRBY K 3"},
    {"number", "", "INCR K"},
    {"number", "", "INCRBY K 3"},
    {"number", "", "INCRBYFLOAT K 0.5"},
    {"string", "", "GETDEL K"},
    {"string", "", "GETEX K PX 1"},
    {"string", "", "GETSET K new"},
    {"string", "", "MSET cold v K new"},
    {"string", "", "PSETEX K 1 new"},
    {"string", "", "SET K new"},
    {"string", "", "SET K new XX GET"},
    {"string", "", "SETEX K 1000 new"},
    {"string", "", "SETRANGE K 1 new"},
    {"string", "", "SETBIT K 1 0"},
    {"string", "", "BITFIELD K SET u8 0 65"},
    {"string", "string", "BITOP NOT K O"},
    {"list", "", "LINSERT K BEFORE b new"},
    {"list", "list", "LMOVE K O LEFT LEFT"},
    {"list", "list", "LMOVE O K LEFT LEFT"},
    {"list", "list", "RPOPLPUSH K O"},
    {"list", "list", "RPOPLPUSH O K"},
    {"list", "list", "BLMOVE K O LEFT LEFT 0"},
    {"list", "list", "BLMOVE O K LEFT LEFT 0"},
    {"list", "list", "BRPOPLPUSH K O 0"},
    {"list", "list", "BRPOPLPUSH O K 0"},
    {"list", "", "BLMPOP 0 1 K LEFT"},
    {"list", "", "BLPOP K 0"},
    {"list", "", "BRPOP K 0"},
    {"list", "", "LMPOP 1 K LEFT"},
    {"list", "", "LPOP K"},
    {"list", "", "LPUSH K new"},
    {"list", "", "LPUSHX K new"},
    {"list", "", "LREM K 1 b"},
    {"list", "", "LSET K 0 new"},
    {"list", "", "LTRIM K 1 1"},
    {"list", "", "RPOP K 99"},
    {"list", "", "RPUSH K new"},
    {"list", "", "RPUSHX K new"},
    {"set", "", "SADD K new"},
    {"set", "list", "SDIFFSTORE K K none"},
    {"set", "set", "SINTERSTORE K O none"},
    {"set", "set", "SUNIONSTORE K O"},
    {"set", "set", "SMOVE K O a"},
    {"set", "none", "SMOVE K O a"},
    {"set", "", "SPOP K"},
    {"set", "", "SREM K a"},
    {"hash", "", "HDEL K f1"},
    {"hash", "", "HINCRBY K f2 1"},
    {"hash", "", "HINCRBYFLOAT K f2 0.5"},
    {"hash", "", "HMSET K f1 new"},
    {"hash", "", "HSET K f1 new"},
    {"hash", "", "HSETNX K f9 new"},
    {"zset", "", "ZADD K 9 new"},
    {"zset", "zset", "ZDIFFSTORE K 2 O none"},
    {"zset", "", "ZINCRBY K 9 a"},
    {"zset", "zset", "ZINTERSTORE K 2 O none"},
    {"zset", "zset", "ZUNIONSTORE K 1 O WEIGHTS 7"},
    {"zset", "zset", "ZRANGESTORE K O 0 0"},
    {"zset", "", "BZMPOP 0 1 K MIN"},
    {"zset", "", "BZPOPMAX K 0"},
    {"zset", "", "BZPOPMIN K 0"},
    {"zset", "", "ZMPOP 1 K MIN"},
    {"zset", "", "ZPOPMAX K"},
    {"zset", "", "ZPOPMIN K"},
    {"zset", "", "ZREM K a"},
    {"zset", "", "ZREMRANGEBYRANK K 0 0"},
    {"zset", "", "ZREMRANGEBYSCORE K 0 1"},
    {"zset", "", "ZREMRANGEBYLEX K - +"},
    {"stream", "", "XADD K 3-1 f new"},
    {"stream", "", "XDEL K 1-1"},
    {"stream", "", "XTRIM K MAXLEN 1"},
    {"stream", "", "XACK K group 1-1"},
    {"stream", "", "XCLAIM K group new 0 1-1"},
    {"stream", "", "XAUTOCLAIM K group new 0 0"},
    {"stream", "", "XREADGROUP GROUP group new STREAMS K >"},
    {"stream", "", "XGROUP CREATE K two 0"},
    {"stream", "", "XGROUP CREATECONSUMER K group new"},
    {"stream", "", "XGROUP DELCONSUMER K group consumer"},
    {"stream", "", "XGROUP DESTROY K group"},
    {"stream", "", "XGROUP SETID K group 0"},
    {"stream", "", "XSETID K 9-9"},
    {"log", "", "PFADD K new"},
    {"log", "log", "PFMERGE K O"},
    {"geo", "", "GEOADD K 14 38 new"},
    {"geo", "geo", "GEORADIUS O 15 37 1 km STORE K"},
    {"geo", "geo", "GEORADIUSBYMEMBER O palermo 1 km STORE K"},
    {"geo", "geo", "GEOSEARCHSTORE K O FROMLONLAT 15 37 BYRADIUS 1 km"},
    {"string", "list", "COPY O K REPLACE"},
    {"string", "", "DEL K"},
    {"string", "", "DEL cold K"},
    {"string", "", "UNLINK K"},
    {"string", "", "EXPIRE K -1"},
    {"string", "", "EXPIREAT K 1"},
    {"string", "", "PEXPIRE K 1"},
    {"string", "", "PEXPIREAT K 1"},
    {"string", "", "PERSIST K"},
    {"string", "", "MOVE K 3"},
    {"string", "list", "RENAME O K"},
    {"string", "", "RENAME K O"},
    {"string", "", "RENAMENX K O"},
    {"list", "list", "SORT O ALPHA STORE K"},
    {"string", "", "EVAL redis.call('SET',KEYS[1],'new') 1 K"},
    {"string", "list", "EVAL redis.call('RENAME',KEYS[2],KEYS[1]) 2 K O"},
};

// Commands without a row, and why.
bool NeedsNoRow(std::string_view name) {
  static const std::set<std::string_view> none = {
      "pfcount",                                       // changes only what it keeps beside the registers
      "msetnx",          "setnx",                      // they change no key that is there
      "evalsha",         "fcall",                      // as EVAL
      "restore",         "restore-asking", "pfdebug",  // tests of their own, internal
      "function|delete", "function|flush", "function|load", "function|restore",  // no keys
      "flushall",        "flushdb"};                                             // below
  return none.contains(name);
}

Command Words(const std::string& line) {
  std::istringstream in(line);
  Command words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

class HotWrites : public CustomProxyTest {
 protected:
  static constexpr size_t kConnections = 6;  // over three workers

  struct Case {
    Command write;
    std::string key;
    size_t owner;
  };

  void SetUp() override {
    if (DirectMode()) GTEST_SKIP() << "needs the proxy";
    ClusterOptions options;
    options.threads = 3;
    options.config = "hot_keys: {detect: false, patterns: [\"hot:*\"], max_staleness: 20s, buckets: 3}\n";
    Start(options);
    for (size_t i = 0; i < kConnections; ++i) readers_.push_back(Connect());
  }

  void Make(const std::string& type, const std::string& key) {
    if (type == "number") Do({"SET", key, "10"});
    for (const CopyType& each : CopyTypes()) {
      if (each.name != type) continue;
      for (const Command& write : each.writes) {
        const Reply reply = Do(WithKey(write, key));
        ASSERT_FALSE(reply.IsError()) << ToText(reply);
      }
    }
  }

  Case Prepare(const Row& row, size_t index) {
    const std::string tag = "{" + std::to_string(index) + "}";
    Case made;
    made.key = "hot:" + tag;
    const std::string other = "other:" + tag;
    made.write = Words(row.line);
    for (std::string& word : made.write) {
      if (word == "K") word = made.key;
      if (word == "O") word = other;
      if (word == "none") word += tag;
    }
    Make(row.type, made.key);
    Make(row.other, other);
    made.owner = cluster_->OwnerOf(made.key);
    return made;
  }

  // Reads until every key has a copy on each shard but its own.
  void WaitSpread(const std::vector<Case>& cases) {
    std::vector<Command> reads;
    for (int i = 0; i < 8; ++i) {
      for (const Case& each : cases) reads.push_back({"EXISTS", each.key});
    }
    ASSERT_TRUE(Eventually([&] {
      for (RespClient& reader : readers_) reader.Pipeline(reads);
      std::map<std::string, size_t> copies;
      for (size_t i = 0; i < cluster_->size(); ++i) {
        for (const std::string& name : shard(i).Do({"KEYS", "hot:*"}).Texts()) {
          if (proxy::IsBucketName(name)) ++copies[name.substr(0, name.size() - proxy::kBucketSuffixBytes)];
        }
      }
      return std::all_of(cases.begin(), cases.end(),
                         [&](const Case& each) { return copies[each.key] >= cluster_->size() - 1; });
    })) << Do({"INFO", "hotkeys"}).text;
  }

  // All that is in a key, by reads that copies may answer.
  static std::vector<std::string> Everything(RespClient& client, const std::string& key) {
    std::vector<std::string> all;
    const std::vector<Command> reads = {{"TYPE", key},
                                        {"GET", key},
                                        {"LRANGE", key, "0", "-1"},
                                        {"SMEMBERS", key},
                                        {"HGETALL", key},
                                        {"ZRANGE", key, "0", "-1", "WITHSCORES"},
                                        {"XRANGE", key, "-", "+"},
                                        {"XPENDING", key, "group"},
                                        {"EXISTS", key}};
    for (const Reply& reply : client.Pipeline(reads)) {
      if (reply.IsError()) continue;
      std::vector<std::string> texts = reply.Texts();
      std::sort(texts.begin(), texts.end());
      texts.push_back(ToText(reply).substr(0, reply.IsArray() ? 0 : 200));
      all.insert(all.end(), texts.begin(), texts.end());
    }
    return all;
  }

  std::vector<RespClient> readers_;
};

TEST_F(HotWrites, AnOldCopyIsReadAfterAWrite) {
  constexpr size_t kAtOnce = 32;
  Do({"SET", "cold", "v"});
  for (size_t first = 0; first < std::size(kRows); first += kAtOnce) {
    std::vector<Case> cases;
    for (size_t i = first; i < std::min(std::size(kRows), first + kAtOnce); ++i) {
      cases.push_back(Prepare(kRows[i], i));
    }
    ASSERT_NO_FATAL_FAILURE(WaitSpread(cases));
    for (size_t i = 0; i < cases.size(); ++i) {
      const Case& each = cases[i];
      SCOPED_TRACE(kRows[first + i].line);
      const Reply reply = readers_[i % kConnections].Do(each.write);
      EXPECT_FALSE(reply.IsError()) << ToText(reply);
      const int64_t life = shard(each.owner).Do({"PTTL", each.key}).integer;
      // One that has a millisecond to live is not there any more after two.
      if (life >= 0 && life <= 1) Consistently([] { return true; }, milliseconds(3));
      RespClient direct(shard(each.owner).address());
      const std::vector<std::string> expected = Everything(direct, each.key);
      for (RespClient& reader : readers_) EXPECT_EQ(Everything(reader, each.key), expected);
    }
  }
}

TEST_F(HotWrites, ACommandThatWritesIsNotTried) {
  std::set<std::string> tried;
  for (const Row& row : kRows) {
    const Command words = Words(row.line);
    tried.insert(LowerCase(words[0]));
    tried.insert(LowerCase(words[0] + "|" + words[1]));
  }
  std::set<std::string_view> missing;
  for (const protocol::CommandRow& row : protocol::AllCommands()) {
    const bool writes = (row.flags & (protocol::kWrite | protocol::kMayReplicate)) != 0;
    if (!writes || row.unserved != protocol::Unserved::kNone || protocol::HasSubcommands(row)) continue;
    if (!tried.contains(std::string(row.name)) && !NeedsNoRow(row.name)) missing.insert(row.name);
  }
  EXPECT_THAT(missing, IsEmpty());
}

// Keys of the same name in two databases are two keys; what empties one leaves the other.
TEST_F(HotWrites, AnOldCopyIsReadAfterItsDatabaseWasEmptied) {
  for (const Command& flush : {Command{"FLUSHDB"}, Command{"FLUSHALL"}, Command{"FLUSHDB", "ASYNC"}}) {
    const Case here = Prepare({"string", "", "GET K"}, 0);
    RespClient third = Connect();
    third.Do({"SELECT", "3"});
    third.Do({"SET", here.key, "third"});
    ASSERT_NO_FATAL_FAILURE(WaitSpread({here}));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(third.Do({"GET", here.key}).text, "third");
    ASSERT_TRUE(Do(flush).IsOk());
    for (RespClient& reader : readers_) {
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(reader.Do({"GET", here.key}).null);
    }
    for (int i = 0; i < 20; ++i) EXPECT_EQ(third.Do({"GET", here.key}).null, flush[0] == "FLUSHALL");
  }
}

TEST_F(HotWrites, AnOldCopyIsReadAfterAKeyCameFromAnotherDatabase) {
  const Case here = Prepare({"string", "", "GET K"}, 0);
  RespClient third = Connect();
  third.Do({"SELECT", "3"});
  third.Do({"SET", here.key, "third"});
  ASSERT_NO_FATAL_FAILURE(WaitSpread({here}));
  ASSERT_EQ(ToText(third.Do({"COPY", here.key, here.key, "DB", "0", "REPLACE"})), "1");
  for (RespClient& reader : readers_) {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(reader.Do({"GET", here.key}).text, "third");
  }
  ASSERT_EQ(ToText(Do({"DEL", here.key})), "1");
  ASSERT_EQ(ToText(third.Do({"MOVE", here.key, "0"})), "1");
  for (RespClient& reader : readers_) {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(reader.Do({"GET", here.key}).text, "third");
  }
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(third.Do({"GET", here.key}).null);
}

TEST_F(HotWrites, AnOldCopyIsReadAfterAValueWasRestored) {
  const Case here = Prepare({"string", "", "GET K"}, 0);
  Do({"SET", "source", "restored"});
  const std::string dump = Do({"DUMP", "source"}).text;
  ASSERT_NO_FATAL_FAILURE(WaitSpread({here}));
  ASSERT_TRUE(Do({"RESTORE", here.key, "0", dump, "REPLACE"}).IsOk());
  for (RespClient& reader : readers_) {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(reader.Do({"GET", here.key}).text, "restored");
  }
}

}  // namespace
}  // namespace ringway::test
