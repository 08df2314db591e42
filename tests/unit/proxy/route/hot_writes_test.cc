// Before a worker has settled no bucket is read, nor while a write is under way or in doubt; which commands
// write which hot keys.
#include <algorithm>

#include "protocol/learned_commands.h"
#include "proxy/route/script_cache.h"
#include "tests/unit/proxy/route/hot_fixture.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

using HotWritesTest = HotTest;

// --- settling ---

class HotSettlingTest : public HotFixture<RouterTest> {
 protected:
  HotSettlingTest() { hot.Burden(0); }
  // Under way from the last turn on: a copy of the generation that begins when it ends.
  void FillForLater() {
    placement->key->EndWrite();
    hot.Fill(*placement);
    placement->key->BeginWrite();
  }

  const std::string key = world.KeyOn(0, "hot");
  std::shared_ptr<HotPlacement> placement;
};

TEST_F(HotSettlingTest, ABucketIsReadWhileAnOlderWriteMayBeCarriedOut) {
  Ask({"SET", key, "v"});
  placement = hot.Spread(key, {1});
  for (int i = 0; i < 3; ++i) hot.Tick();
  EXPECT_TRUE(placement->key->state().written());
  FakeClient other(world.environment, 8);
  other.Send(Command({"GET", key}));
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_EQ(Reply(0, "+OK\r\n"), "+OK\r\n");
  hot.Tick();
  EXPECT_FALSE(placement->key->state().written()) << "what came later need not be answered";
  Reply(0, "$1\r\nv\r\n");
  hot.Fill(*placement);
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), SizeIs(1));
}

TEST_F(HotSettlingTest, ABucketIsReadWhileAnotherWorkerHasNotSettled) {
  placement = hot.Spread(key, {1}, 0, 2);
  hot.Tick();
  EXPECT_TRUE(placement->key->state().written());
  FillForLater();
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  Reply(0, "$1\r\nv\r\n");
  placement->key->EndWrite();
  hot.Fill(*placement);
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), SizeIs(1));
}

TEST_F(HotSettlingTest, AScriptThatIsLoadedAgainIsNotWaitedFor) {
  const std::string body = "return redis.call('incr', KEYS[1])";
  world.scripts.Remember(body);
  Ask({"EVALSHA", ScriptSha(body), "1", key});
  placement = hot.Spread(key, {1});
  hot.Tick();
  for (const char* reply : {"-NOSCRIPT No matching script.\r\n", "+loaded\r\n"}) {
    Reply(0, reply);
    hot.Tick();
    EXPECT_TRUE(placement->key->state().written()) << reply;
  }
  EXPECT_EQ(Reply(0, ":1\r\n"), ":1\r\n");
  hot.Tick();
  EXPECT_FALSE(placement->key->state().written());
}

TEST_F(HotSettlingTest, ALargeReplyThatHasBegunIsTakenForTheWholeOfIt) {
  Ask({"SET", key, "v", "GET"});
  placement = hot.Spread(key, {1});
  const std::string large = Bulk(std::string(100'000, 'x'));
  ASSERT_TRUE(FakeShard::Feed(world.session(0), large.substr(0, 40'000)));
  hot.Tick();
  EXPECT_TRUE(placement->key->state().written());
  ShardSession& first = world.pool.MainConnection(0).session();
  ASSERT_TRUE(FakeShard::Feed(first, large.substr(40'000)));
  hot.Tick();
  EXPECT_FALSE(placement->key->state().written());
}

TEST_F(HotSettlingTest, AKeyThatStaysHotIsSettledTwice) {
  placement = hot.Make(key, {1});
  const uint64_t generation = placement->key->state().generation();
  hot.Make(world.KeyOn(0, "another"), {2});
  hot.Cool(placement);  // in this place
  const auto anew = std::make_shared<HotPlacement>(std::make_shared<HotKey>(0, key, 1), placement->hash,
                                                   std::vector<uint32_t>{1});
  auto set = std::make_shared<HotSet>();
  set->keys.push_back(anew);
  world.router.Adopt(std::shared_ptr<const HotSet>(set));
  hot.Tick();
  const auto moved = std::make_shared<HotPlacement>(anew->key, anew->hash, std::vector<uint32_t>{2});
  set = std::make_shared<HotSet>();
  set->keys.push_back(moved);
  world.router.Adopt(std::shared_ptr<const HotSet>(set));
  hot.Tick();
  EXPECT_FALSE(anew->key->state().written());
  EXPECT_EQ(anew->key->state().generation(), generation);
}

TEST_F(HotSettlingTest, AKeyThatCoolsBeforeItHasSettledIsSpread) {
  Ask({"SET", key, "v"});
  placement = hot.Spread(key, {1});
  hot.Cool(placement);
  Reply(0, "+OK\r\n");
  hot.Tick();
  EXPECT_TRUE(placement->key->state().written());
}

// --- a write under way ---

TEST_F(HotWritesTest, ABucketIsReadWhileAWriteIsUnderWayOrAfterIt) {
  Ask({"SET", key, "new"});
  EXPECT_TRUE(state().written());
  FakeClient other(world.environment, 8);
  other.Send(Command({"GET", key}));
  world.EndTurn();
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_EQ(FromKey("+OK\r\n"), "+OK\r\n");
  EXPECT_FALSE(state().written());
  FromKey("$3\r\nnew\r\n");
  other.Send(Command({"GET", key}));
  EXPECT_THAT(world.TakeRequests(1), IsEmpty()) << "the copy is of the time before";
  EXPECT_EQ(world.stats.bucket_invalidations.Get(), 1u);
}

TEST_F(HotWritesTest, AWriteOfAClientThatHasGoneIsForgotten) {
  Ask({"SET", key, "new"});
  client.reset();
  EXPECT_TRUE(state().written());
  world.Reply(0, "+OK\r\n");
  EXPECT_FALSE(state().written());
  EXPECT_EQ(state().generation(), 2u);
}

TEST_F(HotWritesTest, AWriteThatCouldNotBeSentIsCountedWithTheNextRequest) {
  world.shard_environment.settings.in_flight = 1;
  FakeClient other(world.environment, 8);
  other.Send(Command({"GET", world.KeyOn(0)}));
  Ask({"SET", key, "new"});
  EXPECT_TRUE(client->session().stalled());
  other.Send(Command({"SET", world.KeyOn(2), "v"}));
  EXPECT_FALSE(state().written());
}

// --- a write in doubt ---

class WriteInDoubtTest : public HotWritesTest {
 protected:
  WriteInDoubtTest() {
    hot.hot_keys().set_ask_fence([this](const std::vector<LostConnection>& lost) { asked.push_back(lost); });
  }
  void TimeOut(size_t shard = 0) {
    world.now_usec += 10;
    world.session(shard).FailSentBefore(world.now_usec, "SHARDTIMEOUT the shard did not answer in time");
    world.EndTurn();
  }
  void Lose(uint32_t shard, uint64_t number) {
    world.shard_environment.lost.Add(shard, number);
    world.session(shard).FailAll("SHARDDOWN the shard is unreachable");
    world.EndTurn();
  }

  std::vector<std::vector<LostConnection>> asked;
};

TEST_F(WriteInDoubtTest, AWriteThatTimedOutIsTakenForOneThatFailed) {
  Ask({"SET", key, "new"});
  TimeOut();
  EXPECT_THAT(client->Take(), StartsWith("-SHARDTIMEOUT "));
  for (int i = 0; i < 3; ++i) hot.Tick();
  EXPECT_TRUE(state().written());
  Reply(0, "+OK\r\n");
  hot.Tick();
  EXPECT_FALSE(state().written());
  EXPECT_EQ(state().generation(), 2u);
  EXPECT_THAT(asked, IsEmpty());
}

TEST_F(WriteInDoubtTest, ASecondWriteInDoubtEndsWithTheFirst) {
  Ask({"SET", key, "1"});
  TimeOut();
  hot.Tick();
  Ask({"SET", key, "2"});
  TimeOut();
  Reply(0, "+OK\r\n");
  for (int i = 0; i < 3; ++i) hot.Tick();
  EXPECT_TRUE(state().written());
  Reply(0, "+OK\r\n");
  for (int i = 0; i < 2; ++i) hot.Tick();
  EXPECT_FALSE(state().written());
  EXPECT_EQ(state().generation(), 3u);
}

TEST_F(WriteInDoubtTest, AWriteOfALostConnectionIsCarriedOutUnseen) {
  Ask({"SET", key, "new"});
  Lose(0, 77);
  EXPECT_THAT(client->Take(), StartsWith("-SHARDDOWN "));
  EXPECT_TRUE(state().written());
  hot.Tick();
  ASSERT_THAT(asked, SizeIs(1));
  ASSERT_THAT(asked[0], SizeIs(1));
  EXPECT_EQ(asked[0][0].shard_id, 0u);
  EXPECT_EQ(asked[0][0].number, 77u);
  for (int i = 0; i < 3; ++i) hot.Tick();
  EXPECT_THAT(asked, SizeIs(1)) << "the fence has its time";
  EXPECT_TRUE(state().written());
  world.now_usec += HotSettling::kFenceAgainUsec;
  hot.Tick();
  EXPECT_THAT(asked, SizeIs(2)) << "the first question may have failed";
  EXPECT_TRUE(state().written());
  world.pool.lost().Forget(asked[0]);
  hot.Tick();
  EXPECT_FALSE(state().written());
}

TEST_F(WriteInDoubtTest, AnotherShardsLostConnectionKeepsTheKeyFromBeingSpread) {
  world.shard_environment.lost.Add(2, 78);
  Ask({"SET", key, "new"});
  TimeOut();
  Reply(0, "+OK\r\n");
  hot.Tick();
  EXPECT_FALSE(state().written());
  EXPECT_THAT(asked, IsEmpty());
}

TEST_F(WriteInDoubtTest, AConnectionThatIsLostWhileOthersAreDrainedIsForgotten) {
  Ask({"SET", key, "new"});
  TimeOut();
  hot.Tick();
  Lose(0, 79);
  hot.Tick();
  EXPECT_TRUE(state().written());
  EXPECT_THAT(asked, SizeIs(1));
}

TEST_F(WriteInDoubtTest, AReplyThatIsCutOffHalfWayEndsTheWrite) {
  Ask({"SET", key, "new", "GET"});
  ASSERT_TRUE(FakeShard::Feed(world.session(0), Bulk(std::string(100'000, 'x')).substr(0, 40'000)));
  world.shard_environment.lost.Add(0, 77);
  world.pool.MainConnection(0).session().FailAll("SHARDDOWN the shard is unreachable");
  world.EndTurn();
  EXPECT_TRUE(client->closed);
  hot.Tick();
  EXPECT_TRUE(state().written());
  world.pool.lost().Forget({{0, 77}});
  hot.Tick();
  EXPECT_FALSE(state().written());
  EXPECT_EQ(state().generation(), 2u);
}

TEST_F(WriteInDoubtTest, OnePartOfASplitWriteIsForgottenWhenOthersAreAnswered) {
  Ask({"DEL", key, world.KeyOn(2)});
  TimeOut();
  EXPECT_TRUE(state().written());
  Reply(2, ":1\r\n");
  for (int i = 0; i < 2; ++i) hot.Tick();
  EXPECT_TRUE(state().written());
  Reply(0, ":1\r\n");
  hot.Tick();
  EXPECT_FALSE(state().written());
}

// --- which commands write which keys ---

class WrittenKeysTest : public HotFixture<RouterTest> {
 protected:
  // The hot ones of those that this writes, then lets it be answered.
  std::vector<std::string> WrittenBy(const std::vector<std::string>& args) {
    EXPECT_EQ(Ask(args), "");
    return TakeWritten();
  }
  std::vector<std::string> TakeWritten() {
    std::vector<std::string> names;
    for (const auto& [name, placement] : keys) {
      if (placement->key->state().written()) names.push_back(name);
    }
    for (const uint32_t db : {0u, 5u}) {
      for (size_t shard = 0; shard < 3; ++shard) {
        while (world.session(shard, db).in_flight() > 0) {
          FakeShard::Feed(world.session(shard, db), "+OK\r\n");
        }
      }
    }
    world.EndTurn();
    client->Take();
    for (const auto& [name, placement] : keys) EXPECT_FALSE(placement->key->state().written()) << name;
    return names;
  }
  void Learn(const std::string& flags, const std::string& first_key) {
    const std::string reply = "*1\r\n*6\r\n" + Bulk("new.cmd") + ":-2\r\n" + flags + ":" + first_key +
                              "\r\n:" + first_key + "\r\n:" + first_key + "\r\n";
    world.router.Adopt(
        std::shared_ptr<const protocol::LearnedCommands>(protocol::LearnedCommands::FromReply(reply)));
  }

  const std::string tag = "{" + world.KeyOn(0, "t") + "}";
  const std::string a = tag + "a";
  const std::string b = tag + "b";
  const std::string c = world.KeyOn(2, "c");
  // b5: b in database 5.
  const std::vector<std::pair<std::string, std::shared_ptr<HotPlacement>>> keys = {
      {"a", hot.Make(a, {1})}, {"b", hot.Make(b, {1})}, {"b5", hot.Make(b, {1}, 5)}, {"c", hot.Make(c, {1})}};
};

TEST_F(WrittenKeysTest, WritesOfOneKeyPassUncounted) {
  EXPECT_THAT(WrittenBy({"SET", a, "v"}), ElementsAre("a"));
  EXPECT_THAT(WrittenBy({"EXPIRE", b, "1"}), ElementsAre("b"));
  EXPECT_THAT(WrittenBy({"GETEX", c}), ElementsAre("c"));
  EXPECT_THAT(WrittenBy({"set", tag + "other", "v"}), IsEmpty());
}

TEST_F(WrittenKeysTest, WritesOfSeveralKeysCountForTheFirst) {
  EXPECT_THAT(WrittenBy({"MSET", a, "1", c, "2"}), ElementsAre("a", "c"));
  EXPECT_THAT(WrittenBy({"MSET", tag + "other", a, a, "2"}), ElementsAre("a")) << "a is a value once";
  EXPECT_THAT(WrittenBy({"DEL", "x", "y", c}), ElementsAre("c"));
  EXPECT_THAT(WrittenBy({"UNLINK", a, b, c}), ElementsAre("a", "b", "c"));
  EXPECT_THAT(WrittenBy({"RENAME", tag + "other", b}), ElementsAre("b"));
  EXPECT_THAT(WrittenBy({"RENAME", a, b}), ElementsAre("a", "b"));
  EXPECT_THAT(WrittenBy({"SUNIONSTORE", b, tag + "x", tag + "y"}), ElementsAre("b"));
}

TEST_F(WrittenKeysTest, AnotherDatabasesKeyChangesUnseen) {
  EXPECT_THAT(WrittenBy({"MOVE", b, "5"}), ElementsAre("b", "b5"));
  EXPECT_THAT(WrittenBy({"COPY", tag + "x", b, "DB", "5"}), ElementsAre("b", "b5"));
  EXPECT_THAT(WrittenBy({"COPY", tag + "x", b}), ElementsAre("b"));
  Ask({"SELECT", "5"});
  EXPECT_THAT(WrittenBy({"SET", b, "v"}), ElementsAre("b5"));
  EXPECT_THAT(WrittenBy({"SET", a, "v"}), IsEmpty());
}

TEST_F(WrittenKeysTest, AFlushLeavesCopiesInUse) {
  EXPECT_THAT(WrittenBy({"FLUSHDB"}), ElementsAre("a", "b", "c"));
  EXPECT_THAT(WrittenBy({"FLUSHALL"}), ElementsAre("a", "b", "b5", "c"));
  Ask({"SELECT", "5"});
  EXPECT_THAT(WrittenBy({"FLUSHDB"}), ElementsAre("b5"));
}

TEST_F(WrittenKeysTest, ScriptsWriteUnseenOrReadOnlyOnesCount) {
  EXPECT_THAT(WrittenBy({"EVAL", "return 1", "1", a, b}), ElementsAre("a")) << "b is an argument";
  EXPECT_THAT(WrittenBy({"EVALSHA", std::string(40, 'a'), "2", a, b}), ElementsAre("a", "b"));
  EXPECT_THAT(WrittenBy({"EVAL_RO", "return 1", "1", a}), IsEmpty());
}

TEST_F(WrittenKeysTest, SortStoresUnseen) {
  EXPECT_THAT(WrittenBy({"SORT", tag + "x", "STORE", b}), ElementsAre("b"));
  EXPECT_THAT(WrittenBy({"SORT_RO", a}), IsEmpty());
}

TEST_F(WrittenKeysTest, ReadsCountAsWrites) {
  for (const char* command : {"GET", "TTL", "DUMP", "TYPE", "TOUCH", "EXISTS"}) {
    EXPECT_THAT(WrittenBy({command, a}), IsEmpty()) << command;
  }
  EXPECT_THAT(WrittenBy({"MGET", a, c}), IsEmpty());
  EXPECT_THAT(WrittenBy({"SINTER", a, b}), IsEmpty());
}

TEST_F(WrittenKeysTest, LearntCommandsWriteUnseen) {
  Learn("*1\r\n+write\r\n", "1");
  EXPECT_THAT(WrittenBy({"NEW.CMD", a}), ElementsAre("a"));
  Learn("*1\r\n+readonly\r\n", "1");
  EXPECT_THAT(WrittenBy({"NEW.CMD", a}), IsEmpty());
}

TEST_F(WrittenKeysTest, KeysThatOnlyAServerKnowsAreWrittenUnseen) {
  Learn("*2\r\n+write\r\n+movablekeys\r\n", "0");
  Ask({"NEW.CMD", "x"});
  for (size_t shard = 0; shard < 3; ++shard) {
    if (world.session(shard).in_flight() == 0) continue;
    EXPECT_EQ(Reply(shard, "*2\r\n" + Bulk(a) + Bulk(b)), "");
    break;
  }
  EXPECT_THAT(TakeWritten(), ElementsAre("a", "b"));
}

TEST_F(WrittenKeysTest, ARefusedWriteIsCountedForEver) {
  EXPECT_THAT(Ask({"RENAME", a, c}), StartsWith("-CROSSSLOT "));
  EXPECT_THAT(Ask({"SET", a}), StartsWith("-ERR "));
  EXPECT_THAT(WrittenBy({"GET", tag + "x"}), IsEmpty());
}

TEST_F(HotTest, AClientThatDoesNotReadKeepsItsShardsKeysFromBeingSpread) {
  FakeClient slow(world.environment, 9);
  slow.take_limit = 0;
  slow.Send(Command({"GET", world.KeyOn(0, "large")}));
  world.EndTurn();
  ShardSession& session = world.pool.MainConnection(0).session();
  FakeShard::Feed(session, "$4000000\r\n" + std::string(2'000'000, 'x'));
  slow.Send(Command({"GET", world.KeyOn(0, "behind")}));
  world.EndTurn();
  ASSERT_TRUE(session.StreamIsBackedUp());
  const auto fresh = hot.Spread(world.KeyOn(0, "second"), {1});
  hot.Tick();
  EXPECT_TRUE(session.HasOthersBehindStream() || !fresh->key->state().written())
      << "neither read nor settled";
  FakeShard::Feed(session, std::string(2'000'000, 'x') + "\r\n$1\r\nv\r\n");
  hot.Tick();
  EXPECT_FALSE(fresh->key->state().written());
}

TEST_F(HotTest, WritesOfAShardThatIsAwayPileUp) {
  world.pool.lost().Add(world.router.topology().shards[0].id, 77);
  const auto doubt = [this] {
    client->Send(Command({"SET", key, "v"}));
    world.EndTurn();
    world.pool.MainConnection(0).session().FailAll("SHARDDOWN s0 is unreachable");
    world.EndTurn();
    client->Take();
  };
  for (int i = 0; i < 3; ++i) doubt();
  hot.Tick();
  for (int i = 0; i < 3; ++i) doubt();
  const long references = placement->key.use_count();
  for (int i = 0; i < 100; ++i) doubt();
  EXPECT_EQ(placement->key.use_count(), references);
  EXPECT_TRUE(state().written());
}

}  // namespace
}  // namespace ringway::proxy
