// The checker of hot keys: that it finds what it promises to find, and nothing where all is well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/hot_checker.h"
#include "tests/support/redis_server.h"

namespace ringway::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Reply Ok() { return ParseReply("+OK\r\n"); }
Reply Bulk(const std::string& text) {
  return ParseReply("$" + std::to_string(text.size()) + "\r\n" + text + "\r\n");
}
Reply Nil() { return ParseReply("$-1\r\n"); }

// A string whose versions the tests write.
class HotJudge : public ::testing::Test {
 protected:
  explicit HotJudge(HotKind kind = HotKind::kString)
      : names_("t"), subject_(kind, names_, 0, &excuses_), get_({"GET", names_.key}) {}

  HotWrite Begin() {
    const std::optional<HotWrite> write = subject_.BeginWrite(&ticket_);
    EXPECT_TRUE(write.has_value());
    return write.value_or(HotWrite{});
  }
  std::string End(const HotWrite& write, const Reply& reply) {
    std::vector<Reply> replies(write.before.size(), ParseReply(":0\r\n"));
    replies.push_back(reply);
    return subject_.JudgeWrite(ticket_, write, replies, 0, &seen_);
  }
  // What must be acknowledged for version 9 to be known: the removal of what was there, and a SET.
  void WriteFirst() {
    EXPECT_EQ(End(Begin(), ParseReply(":0\r\n")), "");
    EXPECT_EQ(End(Begin(), Ok()), "");
  }
  std::string Read(const HotTicket& ticket, const Reply& reply) {
    return subject_.JudgeRead(ticket, get_, reply, &seen_);
  }
  std::string Value(int version) const { return names_.key + "@" + std::to_string(version) + ";"; }

  MoveExcuses excuses_;
  HotNames names_;
  HotRegister subject_;
  Command get_;
  HotTicket ticket_;
  int64_t seen_ = 0;
};

TEST_F(HotJudge, LetsAnOldCopyPass) {
  WriteFirst();
  const HotWrite write = Begin();
  ASSERT_EQ(write.command[0], "MSET");
  const HotTicket early = subject_.BeginRead();
  EXPECT_EQ(Read(early, Bulk(Value(9))), "") << "the write is under way";
  EXPECT_EQ(End(write, Ok()), "");
  EXPECT_EQ(Read(early, Bulk(Value(9))), "") << "it began before the answer";
  const HotTicket late = subject_.BeginRead();
  EXPECT_EQ(Read(late, Bulk(Value(10))), "");
  EXPECT_THAT(Read(late, Bulk(Value(9))), HasSubstr("version 10 was known"));
  EXPECT_THAT(Read(late, Nil()), HasSubstr("version 10 was known"));
  EXPECT_THAT(Read(late, Bulk(Value(11))), Not(IsEmpty())) << "was never written";
}

TEST_F(HotJudge, LetsAValueVanishThatWasReadBeforeItWasAcknowledged) {
  WriteFirst();
  Begin();
  EXPECT_EQ(Read(subject_.BeginRead(), Bulk(Value(10))), "");
  EXPECT_THAT(Read(subject_.BeginRead(), Bulk(Value(9))), HasSubstr("version 10 was known"));
}

TEST_F(HotJudge, LetsAReadSeeALaterWriteOfItsPipeline) {
  WriteFirst();
  HotTicket before = subject_.BeginRead();
  const HotWrite write = Begin();
  before.most = write.version - 1;
  EXPECT_THAT(Read(before, Bulk(Value(10))), HasSubstr("a later command wrote 10"));
  EXPECT_EQ(Read(before, Bulk(Value(9))), "");
}

TEST_F(HotJudge, TakesALostWriteForAFault) {
  excuses_.lost_answers = true;
  excuses_.ghost_life_usec = 0;
  WriteFirst();
  EXPECT_EQ(End(Begin(), ParseReply("-SHARDTIMEOUT s1\r\n")), "");
  EXPECT_EQ(Read(subject_.BeginRead(), Bulk(Value(9))), "") << "not yet";
  EXPECT_EQ(Read(subject_.BeginRead(), Bulk(Value(10))), "") << "late";
  EXPECT_NE(Read(subject_.BeginRead(), Bulk(Value(9))), "") << "and then for good";
  const HotWrite removal = Begin();
  EXPECT_EQ(removal.version, 2 * kHotRound);
  EXPECT_EQ(End(removal, ParseReply(":1\r\n")), "");
  EXPECT_EQ(Read(subject_.BeginRead(), Nil()), "");
  EXPECT_NE(Read(subject_.BeginRead(), Bulk(Value(10))), "");
}

TEST_F(HotJudge, JudgesWhatIsExcused) {
  WriteFirst();
  const HotTicket before = subject_.BeginRead();
  subject_.Excuse();
  EXPECT_EQ(Read(before, Nil()), "");
  subject_.EndExcuse();
  EXPECT_EQ(Read(subject_.BeginRead(), Nil()), "") << "it has not been removed yet";
  EXPECT_EQ(End(Begin(), ParseReply(":0\r\n")), "");
  EXPECT_NE(Read(subject_.BeginRead(), Bulk(Value(9))), "");
}

TEST_F(HotJudge, LetsAWrongAnswerToAWritePass) {
  WriteFirst();
  EXPECT_EQ(End(Begin(), Ok()), "");
  const HotWrite append = Begin();
  ASSERT_EQ(append.command[0], "APPEND");
  EXPECT_THAT(End(append, ParseReply(":1\r\n")), HasSubstr("instead of"));
}

class HotJudgeOfExpiry : public HotJudge {
 protected:
  HotJudgeOfExpiry() : HotJudge(HotKind::kExpiring) {}
};

TEST_F(HotJudgeOfExpiry, LetsAKeyOutliveItsTime) {
  EXPECT_EQ(End(Begin(), ParseReply(":0\r\n")), "");
  const HotWrite write = Begin();
  ASSERT_GT(write.ttl_ms, 0);
  EXPECT_EQ(End(write, Ok()), "");
  const int64_t end = NowUsec() + (write.ttl_ms + 10) * 1000;
  EXPECT_NE(Read(subject_.BeginRead(), Nil()), "") << "too early";
  HotTicket none;
  EXPECT_FALSE(subject_.BeginWrite(&none)) << "its expiry would go unseen";
  EXPECT_TRUE(Eventually([&] { return NowUsec() > end; }));
  EXPECT_THAT(Read(subject_.BeginRead(), Bulk(Value(9))), HasSubstr("version 10 was known"));
  EXPECT_EQ(Read(subject_.BeginRead(), Nil()), "");
}

TEST(HotCounterJudge, LetsACounterGoBack) {
  MoveExcuses excuses;
  const HotNames names("t");
  HotCounter counter(names, 0, &excuses);
  HotTicket first;
  HotTicket second;
  int64_t seen = 0;
  const auto one = counter.BeginWrite(&first);
  const auto two = counter.BeginWrite(&second);
  ASSERT_TRUE(one && two);
  const HotTicket early = counter.BeginRead();
  EXPECT_EQ(counter.JudgeWrite(second, *two, {ParseReply(":2\r\n")}, 0, &seen), "");
  const Command get = {"GET", names.key};
  EXPECT_EQ(counter.JudgeRead(early, get, Bulk("1"), &seen), "");
  EXPECT_THAT(counter.JudgeRead(counter.BeginRead(), get, Bulk("1"), &seen), HasSubstr("2 was known"));
  EXPECT_NE(counter.JudgeRead(counter.BeginRead(), get, Bulk("3"), &seen), "");
  EXPECT_NE(counter.JudgeWrite(first, *one, {ParseReply(":3\r\n")}, 0, &seen), "");
}

// Two versions that look alike would hide an old copy; that some read tells each from the one before it is
// what the checker lives on.
TEST(HotWork, VersionsLookLikeTheOnesBeforeThem) {
  for (int kind = 0; kind <= kSharedHotKinds; ++kind) {
    const HotNames names("t");
    const auto hot_kind = static_cast<HotKind>(kind);
    ModelStore store = EmptyHotStore(hot_kind, names);
    for (int64_t version = kHotRound; version < 3 * kHotRound; ++version) {
      const ModelStore before = store;
      const HotWrite write = MakeHotWrite(hot_kind, names, version);
      ApplyHotWrite(&store, write);
      bool differs = version == kHotRound;
      for (const Command& read : HotReads(hot_kind, names)) {
        differs = differs || ExpectedHotRead(store, read) != ExpectedHotRead(before, read);
      }
      const bool only_its_life = write.command[0] == "PEXPIRE" || write.command[0] == "PERSIST";
      EXPECT_NE(differs, only_its_life) << "kind " << kind << " version " << version;
      if (write.ttl_ms == 0) continue;
      store.erase(names.key);
      ++version;
    }
  }
}

// One plain server, of which no fault may be told: what the checker expects is what Redis does.
TEST(HotCheckerCalm, AFaultIsFoundInAPlainServer) {
  const RedisServer server;
  HotCheckerOptions options;
  options.address = server.address();
  HotChecker checker(options);
  checker.Start();
  EXPECT_TRUE(Eventually([&] { return checker.reads() > 30'000 && checker.writes() > 5'000; }));
  checker.Stop();
  EXPECT_THAT(checker.Complaints(), IsEmpty());
  EXPECT_EQ(checker.lost_answers(), 0);
}

}  // namespace
}  // namespace ringway::test
