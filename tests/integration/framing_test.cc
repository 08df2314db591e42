// Where bytes are cut must never matter, nor which of the two sides ends first.
#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

using Framing = ProxyTest;

TEST_F(Framing, NullsOfOneKindBecomeAnother) {
  EXPECT_EQ(client_.DoRaw({"GET", "nothing"}), "$-1\r\n");
  EXPECT_EQ(client_.DoRaw({"LPOP", "nothing", "2"}), "*-1\r\n");
  EXPECT_EQ(client_.DoRaw({"LRANGE", "nothing", "0", "-1"}), "*0\r\n");
  EXPECT_EQ(client_.DoRaw({"MGET", "nothing", "neither"}), "*2\r\n$-1\r\n$-1\r\n");
  client_.Do({"SET", "empty", ""});
  EXPECT_EQ(client_.DoRaw({"GET", "empty"}), "$0\r\n\r\n");
  client_.Do({"HELLO", "3"});
  EXPECT_EQ(client_.DoRaw({"GET", "nothing"}), "_\r\n");
  EXPECT_EQ(client_.DoRaw({"LPOP", "nothing", "2"}), "_\r\n");
  EXPECT_EQ(client_.DoRaw({"MGET", "nothing", "neither"}), "*2\r\n_\r\n_\r\n");
}

TEST_F(Framing, Resp3TypesAreFlattened) {
  client_.Do({"HELLO", "3"});
  client_.Do({"HSET", "h", "f", "v"});
  client_.Do({"SADD", "s", "m"});
  client_.Do({"ZADD", "z", "1.5", "m"});
  EXPECT_EQ(client_.DoRaw({"HGETALL", "h"}), "%1\r\n$1\r\nf\r\n$1\r\nv\r\n");
  EXPECT_EQ(client_.DoRaw({"SMEMBERS", "s"}), "~1\r\n$1\r\nm\r\n");
  EXPECT_EQ(client_.DoRaw({"ZSCORE", "z", "m"}), ",1.5\r\n");
  EXPECT_EQ(client_.DoRaw({"ZRANGE", "z", "0", "-1", "WITHSCORES"}), "*1\r\n*2\r\n$1\r\nm\r\n,1.5\r\n");
  const std::vector<std::string> wire = {"string", "integer", "double", "null",     "array", "set",
                                         "map",    "attrib",  "bignum", "verbatim", "true",  "false"};
  for (const std::string& type : wire) {
    if (type == "attrib") continue;
    const std::string script = "redis.setresp(3); return redis.call('DEBUG', 'PROTOCOL', '" + type + "')";
    const std::string through = client_.DoRaw({"EVAL", script, "1", "key"});
    RespClient direct(shard(0).address());
    direct.Do({"HELLO", "3"});
    EXPECT_EQ(through, direct.DoRaw({"EVAL", script, "1", "key"})) << type;
  }
  client_.Do({"HELLO", "2"});
  EXPECT_EQ(client_.DoRaw({"HGETALL", "h"}), "*2\r\n$1\r\nf\r\n$1\r\nv\r\n");
}

// Every value and key length around the sizes of buffers: a length line, a value or its line end falls on the
// edge.
TEST_F(Framing, LengthOnABufferBoundaryBreaksTheStream) {
  std::vector<size_t> sizes;
  for (size_t edge : {4096, 8192, 16384, 32768, 65536, 131072, 262144}) {
    const size_t reach = edge <= 16384 || edge == 65536 || edge == 262144 ? 40 : 12;
    for (size_t size = edge - reach; size <= edge + 8; ++size) sizes.push_back(size);
  }
  std::string batch;
  std::vector<size_t> expected;
  const auto check = [&] {
    ASSERT_TRUE(client_.socket().Send(batch));
    for (const size_t size : expected) {
      ASSERT_EQ(ToText(client_.Read()), "+OK") << size;
      const Reply value = client_.Read();
      ASSERT_EQ(value.text.size(), size);
      ASSERT_EQ(value.text, std::string(size, static_cast<char>('a' + size % 26)));
    }
    batch.clear();
    expected.clear();
  };
  for (const size_t size : sizes) {
    const std::string key = "size:" + std::to_string(size % 7);
    batch += EncodeCommand({"SET", key, std::string(size, static_cast<char>('a' + size % 26))}) +
             EncodeCommand({"GET", key});
    expected.push_back(size);
    // Alone, and later several in one stream so that edges fall elsewhere.
    if (size % 3 != 0 || batch.size() > 1000000) check();
  }
  check();
}

TEST_F(Framing, ShortRepliesAroundTheReadBufferBreakTheStream) {
  client_.Do({"SET", "a", "1"});
  client_.Do({"SET", "b", "22"});
  for (size_t padding = 0; padding < 64; ++padding) {
    // One long value first, so that the replies after it cross a 16 KiB edge at every offset.
    client_.Do({"SET", "a", std::string(16384 - padding, 'x')});
    const auto replies = client_.Pipeline({{"GET", "a"}, {"GET", "b"}, {"MGET", "b", "a", "b"}, {"PING"}});
    ASSERT_EQ(replies[0].text.size(), 16384 - padding);
    ASSERT_EQ(ToText(replies[1]), "\"22\"");
    ASSERT_EQ(replies[2].elements.size(), 3U);
    ASSERT_EQ(ToText(replies[3]), "+PONG");
  }
}

TEST_F(Framing, RequestSplitAtAnyByteIsReadWrongly) {
  const std::string request =
      EncodeCommand({"SET", "key", "va\r\nue"}) + "GET key\r\n" + EncodeCommand({"MGET", "key", "none"}) +
      EncodeCommand({"MSET", "x", "1", "y", "2"}) + EncodeCommand({"DEL", "x", "y", "key"});
  const std::string answer = "+OK\r\n$6\r\nva\r\nue\r\n*2\r\n$6\r\nva\r\nue\r\n$-1\r\n+OK\r\n:3\r\n";
  for (size_t cut = 1; cut < request.size(); ++cut) {
    ASSERT_TRUE(client_.socket().Send(request.substr(0, cut)));
    // Ask something on another connection in between: the first part has then been read, as a rule.
    RespClient other = Connect();
    ASSERT_EQ(ToText(other.Do({"PING"})), "+PONG");
    ASSERT_TRUE(client_.socket().Send(request.substr(cut)));
    ASSERT_EQ(client_.socket().ReadBytes(answer.size()), answer) << "cut at " << cut;
  }
}

TEST_F(Framing, RequestSentByteByByteIsReadWrongly) {
  for (const char byte :
       EncodeCommand({"SET", "key", "value"}) + "GET key\r\n" + EncodeCommand({"STRLEN", "key"})) {
    client_.socket().Send(std::string(1, byte));
  }
  EXPECT_EQ(ToText(client_.Read()), "+OK");
  EXPECT_EQ(ToText(client_.Read()), "\"value\"");
  EXPECT_EQ(ToText(client_.Read()), "5");
}

TEST_F(Framing, QuitDropsRepliesBeforeIt) {
  const auto keys = Fill(50);
  std::string pipeline;
  std::string answer;
  for (const std::string& key : keys) {
    pipeline += EncodeCommand({"GET", key});
    answer += "$" + std::to_string(key.size()) + "\r\n" + key + "\r\n";
  }
  client_.socket().Send(pipeline + "QUIT\r\n" + EncodeCommand({"SET", "after", "quit"}));
  EXPECT_EQ(client_.socket().ReadUntilClosed(), answer + "+OK\r\n");
  client_ = Connect();
  EXPECT_EQ(Ask({"EXISTS", "after"}), "0");
}

TEST_F(Framing, HalfClosedClientLosesReplies) {
  client_.socket().Send(EncodeCommand({"SET", "a", "1"}) + EncodeCommand({"GET", "a"}) +
                        EncodeCommand({"MGET", "a", "b"}));
  client_.socket().HalfClose();
  EXPECT_EQ(client_.socket().ReadUntilClosed(), "+OK\r\n$1\r\n1\r\n*2\r\n$1\r\n1\r\n$-1\r\n");
}

TEST_F(Framing, HalfClosedClientLosesManyOrLargeReplies) {
  RINGWAY_NEEDS_PROXY();
  const std::string value(1 << 20, 'v');
  client_.Do({"SET", "large", value});
  std::string pipeline;
  for (int i = 0; i < 20; ++i) pipeline += EncodeCommand({"GET", "large"}) + EncodeCommand({"INCR", "n"});
  client_.socket().Send(pipeline);
  client_.socket().HalfClose();
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(client_.Read().text.size(), value.size()) << i;
    ASSERT_EQ(ToText(client_.Read()), std::to_string(i + 1));
  }
  EXPECT_EQ(client_.socket().ReadUntilClosed(), "");
}

TEST_F(Framing, HalfCloseInMidRequestLeavesTheConnectionOpen) {
  client_.socket().Send(EncodeCommand({"SET", "a", "1"}) + "*2\r\n$3\r\nGET\r\n$10\r\nabc");
  client_.socket().HalfClose();
  EXPECT_EQ(client_.socket().ReadUntilClosed(), "+OK\r\n");
}

TEST_F(Framing, LongPipelineLosesOrReordersReplies) {
  constexpr int kCommands = 20000;
  std::string pipeline;
  for (int i = 0; i < kCommands; ++i) {
    pipeline += EncodeCommand({"SET", "k" + std::to_string(i), std::to_string(i)});
    pipeline += EncodeCommand({"GET", "k" + std::to_string(i)});
  }
  // In pieces, reading in between, as neither side is obliged to buffer without end.
  size_t sent = 0;
  int next = 0;
  while (next < kCommands) {
    if (sent < pipeline.size()) {
      const size_t size = std::min<size_t>(pipeline.size() - sent, 65536);
      ASSERT_TRUE(client_.socket().Send(pipeline.substr(sent, size)));
      sent += size;
    }
    const bool all_sent = sent == pipeline.size();
    while (next < kCommands && (all_sent || client_.socket().ReadableWithin(milliseconds(0)))) {
      ASSERT_EQ(ToText(client_.Read()), "+OK") << next;
      ASSERT_EQ(client_.Read().text, std::to_string(next));
      ++next;
      if (!all_sent && next % 500 == 0) break;
    }
  }
}

TEST_F(Framing, ManyArgumentsAreCut) {
  Command mset = {"MSET"};
  Command mget = {"MGET"};
  for (int i = 0; i < 20000; ++i) {
    mset.insert(mset.end(), {"k" + std::to_string(i), "v" + std::to_string(i)});
    mget.push_back("k" + std::to_string(i));
  }
  EXPECT_EQ(Ask(mset), "+OK");
  const Reply values = Do(mget);
  ASSERT_EQ(values.elements.size(), 20000U);
  for (size_t i = 0; i < values.elements.size(); ++i)
    ASSERT_EQ(values.elements[i].text, "v" + std::to_string(i));
  mget[0] = "UNLINK";
  EXPECT_EQ(Ask(mget), "20000");
}

}  // namespace
}  // namespace ringway::test
