// `ringway reshard` as people and scripts run it, against a proxy that says what a test wants.
#include <algorithm>
#include <mutex>

#include "tests/integration/proxy_test.h"
#include "tests/support/fake_shard.h"
#include "tests/support/terminal_process.h"

namespace ringway::test {
namespace {

std::string Bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

constexpr const char* kPlan =
    "*12\r\n$12\r\nmoving_share\r\n$6\r\n0.2504\r\n$4\r\nkeys\r\n:250123\r\n$5\r\nbytes\r\n:2097152\r\n"
    "$20\r\nleast_possible_share\r\n$4\r\n0.25\r\n"
    "$5\r\nmoves\r\n*1\r\n*10\r\n$4\r\nfrom\r\n$2\r\ns1\r\n$2\r\nto\r\n$2\r\ns4\r\n$5\r\nshare\r\n$4\r\n0."
    "25\r\n"
    "$4\r\nkeys\r\n:250123\r\n$5\r\nbytes\r\n:2097152\r\n"
    "$12\r\nshards_after\r\n*0\r\n";

// What INFO migration says of move 7.
std::string Info(const std::string& state, const std::string& more = "") {
  return "# Migration\r\nmigration_state:" + state +
         "\r\nmigration_id:7\r\nmigration_change:ADD s4 127.0.0.1:7004\r\n" + more;
}

std::string Progress(int percent) {
  return Info("moving", "migration_progress:0." + std::to_string(percent) +
                            "\r\nmigration_keys_moved:" + std::to_string(percent * 1000) +
                            "\r\nmove0:from=s1,to=s4,share=0.25,keys=" + std::to_string(percent * 1000) +
                            ",bytes=1,on_access=0,remaining=5,errors=0\r\n");
}

const char* const kSettled =
    "migration_result:settled\r\nmigration_progress:1\r\nmigration_keys_moved:250000\r\n";

// A proxy in whose mouth a test puts its answers.
class FakeProxy {
 public:
  FakeProxy() : server_([this](const Command& command) { return AnswerTo(command); }) {}

  const std::string address() const { return server_.address(); }
  void SetPlan(const std::string& reply) { Set(&plan_, reply); }
  void SetApply(const std::string& reply) { Set(&apply_, reply); }
  void SetPassword(const std::string& words) { Set(&auth_, words); }
  // The raw reply to INFO migration.
  void SetInfoReply(const std::string& reply) { Set(&info_, reply); }
  void SetInfo(const std::string& text) { SetInfoReply(Bulk(text)); }

  bool Heard(const std::string& line) const { return Times(line) > 0; }
  size_t Times(const std::string& line) const {
    const std::vector<std::string> commands = server_.Commands();
    return static_cast<size_t>(std::count(commands.begin(), commands.end(), line));
  }
  bool HeardSoon(const std::string& line) const {
    return Eventually([&] { return Heard(line); });
  }
  // Until it has been looked at twice more, so that what it says has been seen.
  bool Seen() const {
    const size_t before = Times("INFO migration");
    return Eventually([&] { return Times("INFO migration") >= before + 2; });
  }

 private:
  void Set(std::string* what, const std::string& value) {
    const std::lock_guard lock(mutex_);
    *what = value;
  }
  std::string AnswerTo(const Command& command) {
    const std::lock_guard lock(mutex_);
    if (command[0] == "AUTH" && !auth_.empty()) {
      std::string line;
      for (const std::string& word : command) line += (line.empty() ? "" : " ") + word;
      authenticated_ = line == auth_;
      return authenticated_ ? "+OK\r\n"
                            : "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
    }
    if (!auth_.empty() && !authenticated_) return "-NOAUTH Authentication required.\r\n";
    if (command[0] == "INFO") return info_;
    if (command[0] != "RING") return "";
    if (command[1] == "PLAN") return plan_;
    if (command[1] == "APPLY") return apply_;
    return "+OK\r\n";
  }

  mutable std::mutex mutex_;
  std::string plan_ = kPlan;
  std::string apply_ = "+OK 7\r\n";
  std::string info_ = Bulk(Info("idle"));
  std::string auth_;
  bool authenticated_ = false;
  FakeShard server_;  // the last: it begins to answer at once
};

const std::string kApply = "RING APPLY ADD s4 127.0.0.1:7004";

class Reshard : public ::testing::Test {
 protected:
  void SetUp() override { RINGWAY_NEEDS_PROXY(); }

  std::vector<std::string> Arguments(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"reshard", "--connect", proxy_.address()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::vector<std::string> Add(std::vector<std::string> flags = {}) const {
    flags.insert(flags.end(), {"ADD", "s4", "127.0.0.1:7004"});
    return Arguments(flags);
  }
  // The command that a person would type.
  std::vector<std::string> Typed(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), RingwayBinary());
    return arguments;
  }

  FakeProxy proxy_;
};

TEST_F(Reshard, MovesUnaskedWhereThereIsNobodyToAsk) {
  RingwayProcess run(Add());
  EXPECT_EQ(run.WaitExit(), 2);
  EXPECT_THAT(run.log(), AllOf(HasSubstr("about 250,123 keys, 2.0 MiB"), HasSubstr("s1    s4"),
                               HasSubstr("--yes moves without asking"), Not(HasSubstr("\x1b"))));
  EXPECT_TRUE(proxy_.Heard("RING PLAN ADD s4 127.0.0.1:7004"));
  EXPECT_FALSE(proxy_.Heard(kApply));
}

TEST_F(Reshard, LogLacksAStateOrRepeatsLines) {
  proxy_.SetInfo(Info("holding"));
  RingwayProcess run(Add({"--yes"}));
  ASSERT_TRUE(Eventually([&] { return run.LogContains("move 7 holding 0.0%"); })) << run.log();
  proxy_.SetInfo(Progress(42));
  ASSERT_TRUE(Eventually([&] { return run.LogContains("move 7 moving 42.0%: 42,000 keys moved"); }))
      << run.log();
  proxy_.SetInfo(Progress(43));
  ASSERT_TRUE(proxy_.Seen());
  EXPECT_FALSE(run.LogContains("43.0%"));  // lines come at a change of state and every three seconds
  EXPECT_TRUE(Eventually([&] { return run.LogContains("move 7 moving 43.0%"); })) << run.log();
  proxy_.SetInfo(Info("idle", kSettled));
  EXPECT_EQ(run.WaitExit(), 0);
  EXPECT_THAT(run.log(),
              AllOf(HasSubstr("move 7 settled: 250,000 keys (0 B) moved"), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(proxy_.Times(kApply), 1U);
}

TEST_F(Reshard, RefusalIsNoErrorOrLacksTheProxysWords) {
  proxy_.SetPlan("-ERR s4 is taken\x1b[2J\r\n");
  RingwayProcess plan(Add({"--yes"}));
  EXPECT_EQ(plan.WaitExit(), 1);
  EXPECT_THAT(plan.log(), HasSubstr("refused: ERR s4 is taken?[2J"));
  EXPECT_FALSE(proxy_.Heard(kApply));
  proxy_.SetPlan(kPlan);
  proxy_.SetApply("-RINGBUSY a move is under way\r\n");
  RingwayProcess apply(Add({"--yes"}));
  EXPECT_EQ(apply.WaitExit(), 1);
  EXPECT_THAT(apply.log(), AllOf(HasSubstr("refused: RINGBUSY a move is under way"),
                                 HasSubstr("ringway reshard --connect " + proxy_.address() + " --watch")));
}

TEST_F(Reshard, FailedOrAbortedMoveIsNoError) {
  proxy_.SetInfo(Info("idle", "migration_result:failed\r\nmigration_error:s2 did not drain\r\n"));
  RingwayProcess failed(Add({"--yes"}));
  EXPECT_EQ(failed.WaitExit(), 1);
  EXPECT_THAT(failed.log(), HasSubstr("move 7 failed: s2 did not drain; 0 keys"));
  proxy_.SetInfo(Info("idle", "migration_result:aborted\r\n"));
  RingwayProcess aborted(Add({"--yes"}));
  EXPECT_EQ(aborted.WaitExit(), 1);
  EXPECT_THAT(aborted.log(), HasSubstr("move 7 aborted: 0 keys"));
}

TEST_F(Reshard, ServerThatIsNoProxyIsWatchedForEver) {
  RedisServer redis;
  RingwayProcess plan({"reshard", "--connect", redis.address(), "--yes", "REMOVE", "s1"});
  EXPECT_EQ(plan.WaitExit(), 1);
  EXPECT_THAT(plan.log(), HasSubstr("refused: ERR unknown command 'RING'"));
  RingwayProcess watch({"reshard", "--connect", redis.address(), "--watch"});
  EXPECT_EQ(watch.WaitExit(), 1);
  EXPECT_THAT(watch.log(), HasSubstr("it is no ringway"));
  proxy_.SetPlan("+OK\r\n");
  RingwayProcess strange(Add({"--yes"}));
  EXPECT_EQ(strange.WaitExit(), 1);
  EXPECT_THAT(strange.log(), HasSubstr("something that is no plan"));
}

TEST_F(Reshard, BrokenConnectionEndsTheWatch) {
  proxy_.SetInfo(Progress(10));
  RingwayProcess run(Add({"--yes"}));
  ASSERT_TRUE(Eventually([&] { return run.LogContains("10.0%"); })) << run.log();
  proxy_.SetInfoReply("?nonsense\r\n");
  ASSERT_TRUE(Eventually([&] { return run.LogContains("no figures from the proxy (Protocol error"); }))
      << run.log();
  proxy_.SetInfoReply("-ERR max number of clients reached\r\n");
  ASSERT_TRUE(proxy_.Seen());
  proxy_.SetInfo(Progress(20));
  ASSERT_TRUE(Eventually([&] { return run.LogContains("20.0%"); })) << run.log();
  proxy_.SetInfo(Info("idle", kSettled));
  EXPECT_EQ(run.WaitExit(), 0);
}

TEST_F(Reshard, ProxyThatHasGoneIsWaitedForBeyondAllPatience) {
  auto other = std::make_unique<FakeProxy>();
  other->SetInfo(Progress(10));
  RingwayProcess run({"reshard", "--connect", other->address(), "--watch", "--patience", "1"});
  ASSERT_TRUE(Eventually([&] { return run.LogContains("10.0%"); })) << run.log();
  other.reset();
  EXPECT_EQ(run.WaitExit(), 1);
  EXPECT_THAT(run.log(),
              AllOf(HasSubstr("no figures from the proxy ("), HasSubstr("the proxy has not answered for 1"),
                    HasSubstr("(Connection refused); how"), HasSubstr("--watch")));
}

TEST_F(Reshard, MoveThatTheProxyHasForgottenIsWatchedForEver) {
  proxy_.SetInfo(Progress(10));
  RingwayProcess run(Add({"--yes"}));
  ASSERT_TRUE(Eventually([&] { return run.LogContains("10.0%"); })) << run.log();
  proxy_.SetInfo("# Migration\r\nmigration_state:idle\r\nmigration_id:0\r\n");
  EXPECT_EQ(run.WaitExit(), 1);
  EXPECT_THAT(run.log(), HasSubstr("the proxy knows nothing of move 7"));
}

TEST_F(Reshard, WatchStartsAMoveOrMissesTheOneUnderWay) {
  proxy_.SetInfo(Info("idle", kSettled));
  RingwayProcess idle(Arguments({"--watch"}));
  EXPECT_EQ(idle.WaitExit(), 0);
  EXPECT_THAT(idle.log(),
              AllOf(HasSubstr("no move is under way"), HasSubstr("the last one: move 7 settled")));
  proxy_.SetInfo(Progress(50));
  RingwayProcess busy(Arguments({"--watch"}));
  ASSERT_TRUE(Eventually([&] { return busy.LogContains("move 7 moving 50.0%"); })) << busy.log();
  proxy_.SetInfo(Info("idle", kSettled));
  EXPECT_EQ(busy.WaitExit(), 0);
  EXPECT_FALSE(proxy_.Heard("RING APPLY"));
  RingwayProcess nowhere({"reshard", "--connect", "127.0.0.1:1", "--watch"});
  EXPECT_EQ(nowhere.WaitExit(), 1);
  EXPECT_THAT(nowhere.log(), HasSubstr("cannot ask 127.0.0.1:1: Connection refused"));
}

TEST_F(Reshard, PasswordIsNotSentOrShown) {
  proxy_.SetPassword("AUTH admin hush");
  RingwayProcess without(Add({"--yes"}));
  EXPECT_EQ(without.WaitExit(), 1);
  EXPECT_THAT(without.log(), HasSubstr("refused: NOAUTH"));
  RingwayProcess wrong(Add({"--yes", "--user", "admin"}), {"RINGWAY_PASSWORD=loud"});
  EXPECT_EQ(wrong.WaitExit(), 1);
  EXPECT_THAT(wrong.log(), AllOf(HasSubstr("refused: WRONGPASS"), Not(HasSubstr("loud"))));
  proxy_.SetInfo(Info("idle", kSettled));
  TempDir directory;
  WriteFile(directory.File("password"), "hush\n");
  RingwayProcess right(Add({"--yes", "--user", "admin", "--password-file", directory.File("password")}));
  EXPECT_EQ(right.WaitExit(), 0) << right.log();
  EXPECT_THAT(right.log(), Not(HasSubstr("hush")));
}

TEST_F(Reshard, WrongUseIsNoErrorOrMoves) {
  RingwayProcess nothing({"reshard"});
  EXPECT_EQ(nothing.WaitExit(), 2);
  EXPECT_THAT(nothing.log(), HasSubstr("--connect: expected the proxy's address"));
  RingwayProcess help({"reshard", "--help"});
  EXPECT_EQ(help.WaitExit(), 0);
  EXPECT_THAT(help.log(), HasSubstr("ringway reshard --connect 127.0.0.1:6380 --watch"));
}

TEST_F(Reshard, SignalStopsTheMoveOrLeavesNoHint) {
  proxy_.SetInfo(Progress(10));
  RingwayProcess run(Add({"--yes"}));
  ASSERT_TRUE(Eventually([&] { return run.LogContains("10.0%"); })) << run.log();
  run.Signal(SIGTERM);
  EXPECT_EQ(run.WaitExit(), 130);
  const std::string port = proxy_.address().substr(proxy_.address().find(':') + 1);
  EXPECT_THAT(run.log(), AllOf(HasSubstr("the move goes on in the proxy"),
                               HasSubstr("redis-cli -h 127.0.0.1 -p " + port + " RING ABORT"),
                               HasSubstr("redis-cli -h 127.0.0.1 -p " + port + " RING PAUSE"),
                               HasSubstr("ringway reshard --connect " + proxy_.address() + " --watch")));
  EXPECT_FALSE(proxy_.Heard("RING PAUSE"));
}

// --- on a terminal ---

class ReshardTerminal : public Reshard {
 protected:
  static size_t LinesWith(TerminalProcess& run, const std::string& text) {
    const std::vector<std::string> lines = run.screen().Lines();
    return static_cast<size_t>(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    }));
  }
};

TEST_F(ReshardTerminal, AnythingIsTakenForAYes) {
  for (const char* keys : {"n\n", "\n", "yess\n", "\x04", "\x03"}) {
    TerminalProcess run(Typed(Add()));
    ASSERT_TRUE(run.Shows("move? [y/N]")) << run.output();
    run.Type(keys);
    EXPECT_EQ(run.WaitExit(), 2) << run.output();
    EXPECT_TRUE(run.Shows("nothing has been moved")) << run.output();
  }
  EXPECT_FALSE(proxy_.Heard(kApply));
}

TEST_F(ReshardTerminal, FramesPileUpOrOneIsLeftHalfDrawn) {
  proxy_.SetInfo(Info("holding"));
  TerminalProcess run(Typed(Add()));
  ASSERT_TRUE(run.Shows("move? [y/N]")) << run.output();
  run.Type("Yes\n");
  ASSERT_TRUE(run.Shows("move 7 holding: ADD s4 127.0.0.1:7004")) << run.output();
  for (const int percent : {10, 40, 70}) {
    proxy_.SetInfo(Progress(percent));
    ASSERT_TRUE(run.Shows(std::to_string(percent) + ".0%")) << run.screen().Text();
  }
  proxy_.SetInfo(Info("paused", "migration_pause_reason:s4 is full\r\n"));
  ASSERT_TRUE(run.Shows("paused: s4 is full")) << run.screen().Text();
  proxy_.SetInfo(Info("idle", kSettled));
  EXPECT_EQ(run.WaitExit(), 0) << run.output();
  const std::string text = run.screen().Text();
  EXPECT_EQ(LinesWith(run, "move 7 "), 2U) << text;  // the frame's, and the last line
  EXPECT_EQ(LinesWith(run, "] 100.0%"), 1U) << text;
  EXPECT_EQ(LinesWith(run, "[\u2588\u2588\u2588"), 1U) << text;
  EXPECT_EQ(LinesWith(run, "paused"), 0U) << text;
  EXPECT_EQ(LinesWith(run, "on access  errors"), 0U) << text;  // no pairs were in the last answer
  EXPECT_EQ(LinesWith(run, "move 7 settled: 250,000 keys"), 1U) << text;
  EXPECT_EQ(LinesWith(run, "about 250,123 keys"), 1U) << text;  // the plan is still there
  EXPECT_THAT(run.output(), HasSubstr("\x1b[32m"));
}

TEST_F(ReshardTerminal, ColoursOrMovesOfTheCursorComeUnwanted) {
  proxy_.SetInfo(Info("idle", kSettled));
  TerminalProcess plain(Typed(Add({"--yes"})), {"NO_COLOR=1", "LC_ALL=C"});
  EXPECT_EQ(plain.WaitExit(), 0);
  EXPECT_THAT(plain.output(), AllOf(Not(HasSubstr("\x1b[3")), Not(HasSubstr("\x1b[0m")), HasSubstr("[####")));
  TerminalProcess dumb(Typed(Add({"--yes"})), {"TERM=dumb"});
  EXPECT_EQ(dumb.WaitExit(), 0);
  EXPECT_THAT(dumb.output(), AllOf(Not(HasSubstr("\x1b")), HasSubstr("move 7 settled")));
}

TEST_F(ReshardTerminal, NarrowTerminalBreaksTheFrame) {
  std::string pairs;
  for (int i = 0; i < 12; ++i) {
    pairs += "move" + std::to_string(i) + ":from=a-long-name-" + std::to_string(i) +
             ",to=another-long-name,share=0.1,keys=5,remaining=5\r\n";
  }
  proxy_.SetInfo(Info("moving", "migration_progress:0.3\r\n" + pairs));
  TerminalProcess run(Typed(Arguments({"--watch"})), {"LC_ALL=C"}, 32, 10);
  ASSERT_TRUE(run.Shows("30.0%")) << run.output();
  ASSERT_TRUE(proxy_.Seen());
  const std::vector<std::string> lines = run.screen().Lines();
  EXPECT_EQ(lines.size(), 10U) << run.screen().Text();
  EXPECT_EQ(LinesWith(run, "move 7 moving"), 1U) << run.screen().Text();
  EXPECT_EQ(LinesWith(run, "  and 8 more"), 1U) << run.screen().Text();
  run.Resize(20, 10);
  EXPECT_TRUE(Eventually([&] {
    const std::vector<std::string> now = run.screen().Lines();
    return std::all_of(now.end() - 9, now.end(), [](const std::string& line) { return line.size() <= 20; });
  })) << run.screen().Text();
}

TEST_F(ReshardTerminal, CtrlCStopsTheMoveUnasked) {
  proxy_.SetInfo(Progress(10));
  TerminalProcess leaves(Typed(Add({"--yes"})));
  ASSERT_TRUE(leaves.Shows("10.0%")) << leaves.output();
  leaves.Type("\x03");
  EXPECT_EQ(leaves.WaitExit(), 130);
  EXPECT_EQ(LinesWith(leaves, "the move goes on in the proxy"), 1U) << leaves.screen().Text();
  EXPECT_FALSE(proxy_.Heard("RING PAUSE"));
  TerminalProcess pauses(Typed(Add({"--yes", "--pause-on-exit", "yes"})));
  ASSERT_TRUE(pauses.Shows("10.0%")) << pauses.output();
  pauses.Type("\x03");
  EXPECT_EQ(pauses.WaitExit(), 130);
  EXPECT_EQ(LinesWith(pauses, "the move is paused"), 1U) << pauses.screen().Text();
  EXPECT_EQ(LinesWith(pauses, "RING RESUME"), 1U) << pauses.screen().Text();
  EXPECT_EQ(proxy_.Times("RING PAUSE"), 1U);
}

}  // namespace
}  // namespace ringway::test
