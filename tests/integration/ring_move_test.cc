// The life of a change of the shards as people steer it: RING ADD and its like, on a proxy at rest. That no
// key is missed under traffic is another test's.
#include <csignal>
#include <set>

#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

class RingMoveTest : public CustomProxyTest {
 protected:
  static constexpr size_t kKeys = 3000;

  void SetUp() override {
    RINGWAY_NEEDS_PROXY();
    ClusterOptions options;
    options.config = "state_file: " + directory_.File("state.yaml") + "\n" + more_config_;
    Start(options);
    keys_ = Fill(kKeys);
  }

  std::string Status(const std::string& field) { return StatusOf(client_, field); }
  static std::string StatusOf(RespClient& client, const std::string& field) {
    const Reply reply = client.Do({"RING", "STATUS"});
    const Reply* value = reply.Find("migration_" + field);
    return value == nullptr ? "(none)" : value->text;
  }
  uint64_t StatusNumber(const std::string& field) { return std::stoull(Status(field)); }
  bool Reaches(const std::string& state) {
    return Eventually([&] { return Status("state") == state; });
  }

  // Begins the change, which must be taken.
  void Begin(const Command& command) {
    ASSERT_THAT(Ask(command), StartsWith("+OK ")) << cluster_->proxy().log();
  }
  void Settle() {
    ASSERT_EQ(Ask({"RING", "WAIT", "30000"}), "1") << ToText(Do({"RING", "STATUS"}));
    EXPECT_EQ(Status("state"), "idle");
  }
  void Change(const Command& command) {
    Begin(command);
    Settle();
    EXPECT_EQ(Status("result"), "settled") << cluster_->proxy().log();
  }

  // Every key has its value, and is on one server.
  void ExpectAllKeys(RespClient& client) {
    std::vector<Command> commands;
    for (const std::string& key : keys_) commands.push_back({"GET", key});
    size_t missed = 0;
    size_t index = 0;
    for (const Reply& reply : client.Pipeline(commands)) missed += reply.text == keys_[index++] ? 0 : 1;
    EXPECT_EQ(missed, 0U);
    EXPECT_EQ(client.Do({"DBSIZE"}).integer, static_cast<int64_t>(keys_.size()));
  }
  void ExpectAllKeys() { ExpectAllKeys(client_); }

  static int64_t Size(const RedisServer& server) { return server.Do({"DBSIZE"}).integer; }

  // Names of RING LIST, in its order.
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const Reply& shard : Do({"RING", "LIST"}).elements) names.push_back(shard.Find("name")->text);
    return names;
  }

  // A move that is long enough to be steered.
  void BeginSlowly() {
    ASSERT_EQ(Ask({"RING", "THROTTLE", "200"}), "+OK");
    Begin({"RING", "ADD", "s4", fourth_.address()});
    ASSERT_TRUE(Eventually([&] { return StatusNumber("keys_moved") > 0; })) << cluster_->proxy().log();
    ASSERT_EQ(Status("state"), "moving");
  }

  TempDir directory_;
  std::string more_config_;
  RedisServer fourth_;
  std::vector<std::string> keys_;
};

TEST_F(RingMoveTest, AddedShardLacksItsKeys) {
  Change({"RING", "ADD", "s4", fourth_.address()});
  EXPECT_THAT(Names(), ElementsAre("s1", "s2", "s3", "s4"));
  EXPECT_GT(Size(fourth_), 0);
  uint64_t to_fourth = 0;
  uint64_t all = 0;
  const std::string info = Do({"INFO", "migration"}).text;
  for (int pair = 0; !InfoField(info, "move" + std::to_string(pair)).empty(); ++pair) {
    const std::string line = InfoField(info, "move" + std::to_string(pair));
    const uint64_t keys = std::stoull(line.substr(line.find(",keys=") + 6));
    all += keys;
    if (line.find("to=s4,") != std::string::npos) to_fourth += keys;
  }
  EXPECT_EQ(to_fourth, static_cast<uint64_t>(Size(fourth_)));
  EXPECT_EQ(InfoField(info, "migration_keys_moved"), std::to_string(all));
  EXPECT_NEAR(std::stod(InfoField(info, "migration_ring_share_moving")), 0.25, 0.02);
  EXPECT_EQ(InfoField(info, "migration_progress"), "1.0000");
  EXPECT_EQ(InfoField(info, "migration_keys_remaining"), "0");
  EXPECT_EQ(InfoField(info, "migration_change"), "ADD s4 " + fourth_.address());
  EXPECT_GT(std::stoull(InfoField(info, "migration_bytes_moved")), 0U);
  EXPECT_GT(std::stoull(InfoField(info, "migration_hold_usec")), 0U);
  EXPECT_GE(std::stoull(InfoField(info, "migration_finished")),
            std::stoull(InfoField(info, "migration_started")));
  ExpectAllKeys();
}

TEST_F(RingMoveTest, RemovedShardKeepsCopiesOfHotKeys) {
  RespClient server(shard(1).address());
  for (const char* database : {"0", "3"}) {
    server.Do({"SELECT", database});
    for (int i = 0; i < 10; ++i) {
      server.Do({"SET", "hot\x1fringway:01234567:000000000000000" + std::to_string(i) + "\x1f", "v"});
    }
  }
  Change({"RING", "REMOVE", "s2"});
  EXPECT_EQ(Size(shard(1)), 0);
  EXPECT_EQ(server.Do({"DBSIZE"}).integer, 0);
  EXPECT_TRUE(cluster_->proxy().LogContains("shard s2 " + shard(1).address() + " is empty and is let go"));
  ExpectAllKeys();
}

TEST_F(RingMoveTest, RemovedShardKeepsKeys) {
  Change({"RING", "REMOVE", "s2"});
  EXPECT_THAT(Names(), ElementsAre("s1", "s3"));
  EXPECT_EQ(Size(shard(1)), 0);
  EXPECT_TRUE(cluster_->proxy().LogContains("shard s2 " + shard(1).address() + " is empty and is let go"));
  ExpectAllKeys();
  Change({"RING", "ADD", "s2", shard(1).address()});
  EXPECT_GT(Size(shard(1)), 0);
  ExpectAllKeys();
}

TEST_F(RingMoveTest, NewWeightIsNotFollowed) {
  const int64_t before = Size(shard(0));
  Change({"ring", "weight", "s1", "3"});
  EXPECT_GT(Size(shard(0)), before * 3 / 2);
  ExpectAllKeys();
  Change({"RING", "WEIGHT", "s1", "0"});
  EXPECT_EQ(Size(shard(0)), 0);
  EXPECT_THAT(Names(), ElementsAre("s1", "s2", "s3"));
  ExpectAllKeys();
}

TEST_F(RingMoveTest, ReplacedShardLeavesKeysBehind) {
  const int64_t before = Size(shard(1));
  Change({"RING", "REPLACE", "s2", fourth_.address()});
  EXPECT_EQ(Size(fourth_), before);
  EXPECT_EQ(Size(shard(1)), 0);
  EXPECT_THAT(Names(), ElementsAre("s1", "s2", "s3"));
  EXPECT_EQ(Do({"RING", "LIST"}).elements[1].Find("address")->text, fourth_.address());
  ExpectAllKeys();
  // The old server may come back, under the name that it had.
  Change({"RING", "REPLACE", "s2", shard(1).address()});
  EXPECT_EQ(Size(shard(1)), before);
  ExpectAllKeys();
}

TEST_F(RingMoveTest, ChangesOfOneMoveAreMadeOneByOne) {
  const RedisServer fifth;
  Begin({"RING", "APPLY", "ADD", "s4", fourth_.address(), "WEIGHT", "2", "REMOVE", "s1", "REPLACE", "s3",
         fifth.address(), "WEIGHT", "s2", "0.5"});
  Settle();
  EXPECT_EQ(Status("id"), "1");
  EXPECT_THAT(Names(), ElementsAre("s2", "s3", "s4"));
  EXPECT_EQ(Size(shard(0)), 0);
  EXPECT_EQ(Size(shard(2)), 0);
  EXPECT_GT(Size(fifth), 0);
  ExpectAllKeys();
  EXPECT_EQ(Ask({"RING", "WEIGHT", "s2", "1"}), "+OK 2");
}

TEST_F(RingMoveTest, PausedMoveGoesOn) {
  BeginSlowly();
  EXPECT_EQ(Ask({"RING", "PAUSE"}), "+OK");
  EXPECT_EQ(Status("state"), "paused");
  EXPECT_THAT(Status("pause_reason"), HasSubstr("RING PAUSE"));
  EXPECT_EQ(Ask({"RING", "THROTTLE", "0"}), "+OK");
  EXPECT_EQ(Ask({"RING", "WAIT", "300"}), "0") << "it settled while it was paused";
  ExpectAllKeys();
  EXPECT_EQ(Ask({"RING", "RESUME"}), "+OK");
  Settle();
  EXPECT_GT(StatusNumber("keys_moved_on_access"), 0U);
  ExpectAllKeys();
}

TEST_F(RingMoveTest, AbortedMoveLeavesKeysAtTheNewShard) {
  BeginSlowly();
  EXPECT_EQ(Ask({"RING", "ABORT"}), "+OK");
  EXPECT_EQ(Status("state"), "aborting");
  EXPECT_EQ(Ask({"RING", "ABORT"}), "-ERR the move is being aborted already");
  EXPECT_EQ(Ask({"RING", "THROTTLE", "0"}), "+OK");
  Settle();
  EXPECT_EQ(Status("result"), "aborted");
  EXPECT_EQ(Status("change"), "abort of ADD s4 " + fourth_.address());
  EXPECT_EQ(Size(fourth_), 0);
  EXPECT_THAT(Names(), ElementsAre("s1", "s2", "s3"));
  ExpectAllKeys();
  Change({"RING", "ADD", "s4", fourth_.address()});
  ExpectAllKeys();
}

TEST_F(RingMoveTest, AbortedReplacementKeepsTheNewServer) {
  const int64_t before = Size(shard(1));
  ASSERT_EQ(Ask({"RING", "THROTTLE", "200"}), "+OK");
  Begin({"RING", "REPLACE", "s2", fourth_.address()});
  ASSERT_TRUE(Eventually([&] { return StatusNumber("keys_moved") > 0; }));
  EXPECT_EQ(Ask({"RING", "ABORT"}), "+OK");
  EXPECT_EQ(Ask({"RING", "THROTTLE", "0"}), "+OK");
  Settle();
  EXPECT_EQ(Size(fourth_), 0);
  EXPECT_EQ(Size(shard(1)), before);
  EXPECT_EQ(Do({"RING", "LIST"}).elements[1].Find("address")->text, shard(1).address());
  ExpectAllKeys();
}

TEST_F(RingMoveTest, SecondChangeMixesWithTheFirst) {
  BeginSlowly();
  for (const Command& command : std::vector<Command>{{"RING", "REMOVE", "s1"},
                                                     {"RING", "APPLY", "WEIGHT", "s1", "2"},
                                                     {"RING", "PLAN", "REMOVE", "s1"}}) {
    EXPECT_EQ(Ask(command), "-RINGBUSY a move is under way");
  }
  EXPECT_EQ(Ask({"RING", "THROTTLE", "0"}), "+OK");
  Settle();
}

TEST_F(RingMoveTest, MovingKeyIsLocatedAtOneServerOnly) {
  BeginSlowly();
  std::set<std::string> states;
  for (const std::string& key : keys_) {
    const Reply place = Do({"RING", "LOCATE", key}).elements.at(0);
    states.insert(place.Find("moving")->text);
    if (place.Find("moving")->text == "no") {
      EXPECT_EQ(place.Find("from"), nullptr);
      continue;
    }
    EXPECT_EQ(place.Find("to")->text, place.Find("shard")->text);
    EXPECT_NE(place.Find("from")->text, place.Find("to")->text);
  }
  EXPECT_THAT(states, ElementsAre("no", "yes"));
  EXPECT_EQ(Do({"RING", "LIST"}).elements[3].Find("state")->text, "joining");
  EXPECT_EQ(Ask({"RING", "THROTTLE", "0"}), "+OK");
  Settle();
  EXPECT_EQ(Do({"RING", "LOCATE", keys_[0]}).elements.at(0).Find("moving")->text, "no");
  EXPECT_EQ(Do({"RING", "LIST"}).elements[3].Find("state")->text, "up");
}

TEST_F(RingMoveTest, WaitHoldsUpOthersOrNeverEnds) {
  EXPECT_EQ(Ask({"RING", "WAIT", "0"}), "1") << "no move is under way";
  BeginSlowly();
  RespClient waiting = Connect();
  ASSERT_TRUE(waiting.Send({"RING", "WAIT", "0"}));
  {
    RespClient gone = Connect();
    ASSERT_TRUE(gone.Send({"RING", "WAIT", "0"}));
  }
  EXPECT_EQ(Ask({"RING", "WAIT", "1"}), "0");
  EXPECT_EQ(Ask({"GET", keys_[0]}), "\"" + keys_[0] + "\"");
  EXPECT_EQ(Ask({"RING", "THROTTLE", "0"}), "+OK");
  EXPECT_EQ(ToText(waiting.Read()), "1");
  EXPECT_EQ(Status("state"), "idle");
}

TEST_F(RingMoveTest, WaitKeepsTheProxyFromStopping) {
  BeginSlowly();
  RespClient waiting = Connect();
  ASSERT_TRUE(waiting.Send({"RING", "WAIT", "0"}));
  EXPECT_EQ(Ask({"PING"}), "+PONG");
  cluster_->proxy().Signal(SIGTERM);
  EXPECT_EQ(ToText(waiting.Read()), "-ERR the proxy is stopping");
  waiting = RespClient();
  client_ = RespClient();
  EXPECT_EQ(cluster_->proxy().WaitExit(), 0);
}

TEST_F(RingMoveTest, StatusDiffersBetweenProtocols) {
  const Reply flat = Do({"RING", "STATUS"});
  EXPECT_EQ(flat.type, '*');
  RespClient resp3 = Connect();
  resp3.Do({"HELLO", "3"});
  const Reply map = resp3.Do({"RING", "STATUS"});
  EXPECT_EQ(map.type, '%');
  EXPECT_EQ(map.Texts(), flat.Texts());
  EXPECT_EQ(map.Find("migration_state")->text, "idle");
  EXPECT_EQ(map.Find("migration_id")->text, "0");
}

TEST_F(RingMoveTest, MistakeIsNotExplained) {
  const std::string used = shard(0).address();
  const std::vector<std::pair<Command, std::string>> mistakes = {
      {{"RING", "APPLY"}, "no change was given"},
      {{"RING", "ADD"}, "ADD has no name"},
      {{"RING", "ADD", "s4"}, "ADD s4 has no address"},
      {{"RING", "ADD", "s4", "nowhere"}, "address"},
      {{"RING", "ADD", "s4", used}, "is already that of shard s1"},
      {{"RING", "ADD", "s1", "127.0.0.1:1"}, "the name s1 is already taken"},
      {{"RING", "ADD", "s4", "127.0.0.1:1", "WEIGHT", "-1"}, ""},
      {{"RING", "ADD", "s4", "127.0.0.1:1", "REMOVE", "s1"}, "expected a single change"},
      {{"RING", "REMOVE"}, "REMOVE has no name"},
      {{"RING", "REMOVE", "s9"}, "there is no shard"},
      {{"RING", "REMOVE", "s1", "NOW"}, "NOW"},
      {{"RING", "WEIGHT", "s1"}, "WEIGHT s1 has no weight"},
      {{"RING", "WEIGHT", "s1", "heavy"}, "weight"},
      {{"RING", "WEIGHT", "s1", "1"}, "nothing would change"},
      {{"RING", "REPLACE", "s1"}, "REPLACE s1 has no address"},
      {{"RING", "REPLACE", "s1", used}, "nothing would change"},
      {{"RING", "APPLY", "REMOVE", "s1", "REMOVE", "s2", "REMOVE", "s3"}, ""},
      {{"RING", "APPLY", "WEIGHT", "s1", "2", "REMOVE", "s1"}, "appears in two changes"},
      {{"RING", "WAIT"}, "wrong number of arguments for 'ring|wait' command"},
      {{"RING", "WAIT", "1", "2"}, "wrong number of arguments"},
      {{"RING", "WAIT", "soon"}, "timeout is not an integer or out of range"},
      {{"RING", "WAIT", "-1"}, "timeout is negative"},
      {{"RING", "THROTTLE"}, "wrong number of arguments"},
      {{"RING", "THROTTLE", "-1"}, "keys per second"},
      {{"RING", "THROTTLE", "many"}, "keys per second"},
      {{"RING", "STATUS", "now"}, "wrong number of arguments"},
      {{"RING", "PAUSE", "now"}, "wrong number of arguments"},
      {{"RING", "RESUME", "now"}, "wrong number of arguments"},
      {{"RING", "ABORT", "now"}, "wrong number of arguments"},
      {{"RING", "PAUSE"}, "no move is under way"},
      {{"RING", "RESUME"}, "no move is under way"},
      {{"RING", "ABORT"}, "no move is under way"},
  };
  for (const auto& [command, text] : mistakes) {
    EXPECT_THAT(Ask(command), AllOf(StartsWith("-ERR "), HasSubstr(text)))
        << ToText(Reply()) << command.back();
  }
  EXPECT_EQ(Status("id"), "0") << "one of them began a move";
  EXPECT_THAT(Names(), ElementsAre("s1", "s2", "s3"));
}

TEST_F(RingMoveTest, UnfitTargetIsTaken) {
  const ReservedPort nobody;
  EXPECT_THAT(Ask({"RING", "ADD", "s4", "127.0.0.1:" + std::to_string(nobody.port())}),
              AllOf(StartsWith("-MOVEFAIL "), HasSubstr("s4")));
  fourth_.Do({"SET", "already", "here"});
  EXPECT_THAT(Ask({"RING", "ADD", "s4", fourth_.address()}),
              AllOf(StartsWith("-MOVEFAIL "), HasSubstr("purge_target")));
  fourth_.Restart({"--requirepass", "secret"});
  EXPECT_THAT(Ask({"RING", "ADD", "s4", fourth_.address()}), StartsWith("-MOVEFAIL "));
  EXPECT_EQ(Status("id"), "0");
  fourth_.Stop();
  fourth_.Restart(std::vector<std::string>{});
  Change({"RING", "ADD", "s4", fourth_.address()});
  ExpectAllKeys();
}

TEST_F(RingMoveTest, DeadShardCannotBeGivenUp) {
  const int64_t lost = Size(shard(1));
  // The proxy has to have seen how many keys there were.
  ASSERT_TRUE(Eventually([&] {
    return InfoField(Do({"INFO", "ring"}).text, "shard1").find("keys=" + std::to_string(lost)) !=
           std::string::npos;
  }));
  shard(1).Kill();
  EXPECT_THAT(Ask({"RING", "REMOVE", "s2"}), StartsWith("-MOVEFAIL "));
  Change({"RING", "REMOVE", "s2", "FORCE"});
  EXPECT_THAT(Names(), ElementsAre("s1", "s3"));
  EXPECT_EQ(Do({"DBSIZE"}).integer, static_cast<int64_t>(kKeys) - lost);
  EXPECT_EQ(Ask({"SET", "after", "all"}), "+OK");
}

TEST_F(RingMoveTest, ReloadedListIsNoMove) {
  std::string text = cluster_->ConfigText();
  text.insert(text.find("state_file"), "  - {name: s4, address: \"" + fourth_.address() + "\"}\n");
  WriteFile(cluster_->config_path(), text);
  cluster_->proxy().Signal(SIGHUP);
  ASSERT_TRUE(Eventually([&] { return Status("result") == "settled"; })) << cluster_->proxy().log();
  EXPECT_THAT(Names(), ElementsAre("s1", "s2", "s3", "s4"));
  EXPECT_GT(Size(fourth_), 0);
  ExpectAllKeys();
}

// Ended by force at a time when nothing moves, and in the middle of a move that is paused.
TEST_F(RingMoveTest, RestartForgetsTheRingOrTheMove) {
  Change({"RING", "ADD", "s4", fourth_.address()});
  cluster_->proxy().Signal(SIGKILL);
  cluster_->proxy().WaitExit();
  RedisServer fifth;
  {
    RingwayProcess second({"--config", cluster_->config_path()});
    ASSERT_TRUE(second.WaitReady()) << second.log();
    client_ = RespClient(second.address());
    EXPECT_THAT(Names(), ElementsAre("s1", "s2", "s3", "s4"));
    EXPECT_EQ(Status("result"), "settled");
    ExpectAllKeys();
    ASSERT_EQ(Ask({"RING", "THROTTLE", "200"}), "+OK");
    ASSERT_EQ(Ask({"RING", "ADD", "s5", fifth.address()}), "+OK 2") << second.log();
    ASSERT_TRUE(Eventually([&] { return StatusNumber("keys_moved") > 0; }));
    ASSERT_EQ(Ask({"RING", "PAUSE"}), "+OK");
    second.Signal(SIGKILL);
    second.WaitExit();
  }
  RingwayProcess third({"--config", cluster_->config_path()});
  ASSERT_TRUE(third.WaitReady()) << third.log();
  client_ = RespClient(third.address());
  ExpectAllKeys();
  EXPECT_TRUE(Reaches("paused")) << third.log();
  EXPECT_EQ(Status("id"), "2");
  EXPECT_EQ(Ask({"RING", "RESUME"}), "+OK");
  Settle();
  EXPECT_THAT(Names(), ElementsAre("s1", "s2", "s3", "s4", "s5"));
  EXPECT_GT(Size(fifth), 0);
  ExpectAllKeys();
}

}  // namespace
}  // namespace ringway::test
