// The checker of moves must be able to say no.
#include "tests/integration/move_checker.h"
#include "tests/integration/move_register.h"
#include "tests/integration/move_survey.h"
#include "tests/integration/move_unit.h"
#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

// A unit whose requests are answered by a real model, and by lies.
class MoveJudge : public ::testing::TestWithParam<int> {
 protected:
  static Reply FromText(const std::string& text) { return ParseReply(text); }

  // Answers everything as a Redis would, from a store of its own.
  struct Honest {
    ModelStore store;
    std::vector<std::string> queued;
    bool in_transaction = false;

    std::string Encode(const ExpectedReply& answer) const {
      if (answer.is_range) return ":" + std::to_string(answer.most - 100) + "\r\n";
      return Wire(answer.text);
    }
    static std::string Wire(const std::string& text) {
      if (text == "nil") return "$-1\r\n";
      if (text[0] == '$') return "$" + std::to_string(text.size() - 1) + "\r\n" + text.substr(1) + "\r\n";
      if (text[0] != '[') return text + "\r\n";
      std::string inner;
      int count = 0;
      size_t start = 1;
      while (start + 1 < text.size()) {
        const size_t end = ElementEnd(text, start);
        inner += Wire(text.substr(start, end - start));
        start = end + 1;
        ++count;
      }
      return "*" + std::to_string(count) + "\r\n" + inner;
    }
    // Values hold commas of their own, each before another value or the end of the element.
    static size_t ElementEnd(const std::string& text, size_t start) {
      for (size_t i = start; i < text.size(); ++i) {
        const bool ends = text[i] == ',' && (i + 2 >= text.size() || text[i + 1] == '$' ||
                                             text[i + 1] == ':' || text.compare(i + 1, 4, "nil,") == 0);
        if (ends) return i;
      }
      return text.size();
    }
    Reply Answer(const Command& command) {
      if (command[0] == "MULTI") {
        in_transaction = true;
        queued.clear();
        return FromText("+OK\r\n");
      }
      if (command[0] == "EXEC") {
        in_transaction = false;
        std::string text = "*" + std::to_string(queued.size()) + "\r\n";
        for (const std::string& reply : queued) text += reply;
        return FromText(text);
      }
      const int64_t now = NowUsec();
      const std::string reply = Encode(ApplyCommand(&store, command, {now, now}, 300'000));
      if (!in_transaction) return FromText(reply);
      queued.push_back(reply);
      return FromText("+QUEUED\r\n");
    }
  };

  void LoseAnswersOfAnHonestServer();

  MoveExcuses excuses_;
};

TEST_P(MoveJudge, DoubtsAnHonestServer) {
  MoveUnit unit("unit", static_cast<MoveKind>(GetParam()), TestRandom()(), &excuses_);
  Honest server;
  for (int round = 0; round < 300; ++round) {
    for (const Command& command : unit.NextPipeline()) ASSERT_EQ(unit.Judge(server.Answer(command)), "");
  }
}

TEST_P(MoveJudge, DoubtsAServerThatIsHonestAboutLostCommands) { LoseAnswersOfAnHonestServer(); }

// The next command comes when a lost one is too old to be carried out any more, which says that it has been.
TEST_P(MoveJudge, DoubtsAServerThatIsHonestAboutCommandsLostLongAgo) {
  excuses_.ghost_life_usec = 0;
  LoseAnswersOfAnHonestServer();
}

// Every answer is lost once in a while, and what was asked done or not; sometimes a later pipeline is done
// first.
void MoveJudge::LoseAnswersOfAnHonestServer() {
  excuses_.lost_answers = true;
  auto random = TestRandom(7);
  MoveUnit unit("unit", static_cast<MoveKind>(GetParam()), random(), &excuses_);
  Honest server;
  for (int round = 0; round < 60; ++round) {
    const std::vector<Command> commands = unit.NextPipeline();
    const bool lose = random() % 8 == 0;
    const size_t done = lose ? random() % (commands.size() + 1) : commands.size();
    for (size_t i = 0; i < commands.size(); ++i) {
      const bool whole = done == commands.size() || commands[0][0] != "MULTI";
      const Reply answer = i < done && whole ? server.Answer(commands[i]) : Reply();
      ASSERT_EQ(unit.Judge(lose ? FromText("-SHARDTIMEOUT s1\r\n") : answer), "");
    }
  }
}

// The fault that a move would make: what the keys held is gone, or is what it was some time ago.
TEST_P(MoveJudge, BelievesAServerThatForgets) {
  MoveUnit unit("unit", static_cast<MoveKind>(GetParam()), TestRandom()(), &excuses_);
  Honest server;
  for (int round = 0; round < 100; ++round) {
    for (const Command& command : unit.NextPipeline()) ASSERT_EQ(unit.Judge(server.Answer(command)), "");
  }
  const ModelStore old = server.store;
  int found = 0;
  for (int round = 0; round < 200 && found == 0; ++round) {
    for (const Command& command : unit.NextPipeline())
      found += unit.Judge(server.Answer(command)).empty() ? 0 : 1;
    if (round % 20 == 10) server.store = old;
  }
  EXPECT_GT(found, 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, MoveJudge, ::testing::Range(0, kSharedMoveKinds + 1));

class MoveJudgeOne : public ::testing::Test {
 protected:
  MoveExcuses excuses_;
};

TEST_F(MoveJudgeOne, LetsARegisterGoBack) {
  MoveRegister shared("key", &excuses_);
  bool spoilt = false;
  EXPECT_EQ(shared.NextWrite(), (Command{"SET", "key", "key@1;"}));
  const int64_t early = shared.BeginRead();
  EXPECT_EQ(shared.JudgeWrite(ParseReply("+OK\r\n"), &spoilt), "");
  shared.NextWrite();
  EXPECT_EQ(shared.JudgeRead(early, ParseReply("$-1\r\n")), "") << "it began before the write was known";
  const int64_t known = shared.BeginRead();
  EXPECT_EQ(shared.JudgeRead(known, ParseReply("$6\r\nkey@2;\r\n")), "") << "sent, and perhaps done";
  EXPECT_EQ(shared.JudgeRead(known, ParseReply("$6\r\nkey@1;\r\n")), "") << "began before 2 was read";
  EXPECT_THAT(shared.JudgeRead(shared.BeginRead(), ParseReply("$6\r\nkey@1;\r\n")), HasSubstr("version 2"));
}

TEST_F(MoveJudgeOne, LetsARegisterVanish) {
  MoveRegister shared("key", &excuses_);
  bool spoilt = false;
  shared.NextWrite();
  EXPECT_EQ(shared.JudgeWrite(ParseReply("+OK\r\n"), &spoilt), "");
  EXPECT_NE(shared.JudgeRead(shared.BeginRead(), ParseReply("$-1\r\n")), "");
}

TEST_F(MoveJudgeOne, TakesAnErrorThatNothingExcuses) {
  EXPECT_EQ(FateOf(ParseReply("-SHARDDOWN s1\r\n"), excuses_), MoveFate::kDone)
      << "compared, and found wrong";
  EXPECT_EQ(FateOf(ParseReply("-MOVEFAIL s1\r\n"), excuses_), MoveFate::kDone);
  EXPECT_EQ(FateOf(Reply(), excuses_), MoveFate::kWrong);
  excuses_.lost_answers = excuses_.refusals = excuses_.connections = true;
  EXPECT_EQ(FateOf(ParseReply("-SHARDDOWN s1\r\n"), excuses_), MoveFate::kUnknown);
  EXPECT_EQ(FateOf(ParseReply("-MOVEFAIL s1\r\n"), excuses_), MoveFate::kRefused);
  EXPECT_EQ(FateOf(Reply(), excuses_), MoveFate::kUnknown);
  Reply late;
  late.text = "timed out";
  EXPECT_EQ(FateOf(late, excuses_), MoveFate::kWrong) << "a proxy has to answer";
}

TEST_F(MoveJudgeOne, LetsADeadlineGrow) {
  ModelStore store;
  const int64_t now = NowUsec();
  ApplyCommand(&store, {"SET", "k", "v", "PX", "1000"}, {now, now + 1000}, 300'000);
  const ExpectedReply ttl = ApplyCommand(&store, {"PTTL", "k"}, {now + 500'000, now + 501'000}, 300'000);
  EXPECT_TRUE(Matches(ttl, {"PTTL", "k"}, ParseReply(":500\r\n")));
  EXPECT_TRUE(Matches(ttl, {"PTTL", "k"}, ParseReply(":750\r\n"))) << "on its way";
  EXPECT_FALSE(Matches(ttl, {"PTTL", "k"}, ParseReply(":900\r\n")));
  EXPECT_FALSE(Matches(ttl, {"PTTL", "k"}, ParseReply(":-1\r\n")));
  EXPECT_FALSE(Matches(ttl, {"PTTL", "k"}, ParseReply(":-2\r\n")));
}

// RINGWAY_TEST_TARGET=direct: against one plain redis-server, of which no fault may be told.
class MoveCheckerCalm : public ProxyTest {};

TEST_F(MoveCheckerCalm, AFaultIsFoundWhereNothingMoves) {
  MoveCheckerOptions options;
  options.address = cluster_->address();
  MoveChecker checker(options);
  checker.Start();
  MoveSurvey survey(&checker, 100);
  EXPECT_TRUE(Eventually([&] { return checker.judged() > 100'000 && survey.rounds() > 3; }));
  survey.Stop();
  checker.Stop();
  EXPECT_THAT(checker.Complaints(), IsEmpty());
  EXPECT_THAT(survey.Complaints(), IsEmpty());
  EXPECT_EQ(checker.lost_answers(), 0);
}

}  // namespace
}  // namespace ringway::test
