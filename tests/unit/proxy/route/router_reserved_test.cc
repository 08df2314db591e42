// Commands that name a hot key's copy.
#include "proxy/hotkey/bucket_name.h"
#include "proxy/route/router.h"
#include "tests/unit/proxy/route/router_fixture.h"

namespace ringway::proxy {
namespace {

class ReservedNames : public RouterTest {
 protected:
  const std::string copy_ = "k" + BucketSuffix("0123456789abcdef", 1);
  const std::string refused_ = "-" + std::string(kReservedKey) + "\r\n";
};

TEST_F(ReservedNames, ACopyIsSentForAsOneKey) {
  EXPECT_EQ(Ask({"GET", copy_}), refused_);
  EXPECT_EQ(Ask({"SET", copy_, "v"}), refused_);
  EXPECT_EQ(in_flight(), 0u);
}

TEST_F(ReservedNames, ACopyIsOneOfSeveralKeys) {
  const std::string tagged = "{t}" + copy_;
  EXPECT_EQ(Ask({"RENAME", "{t}a", tagged}), refused_);
  EXPECT_EQ(Ask({"COPY", "{t}a", tagged}), refused_);
  EXPECT_EQ(Ask({"SORT", "{t}a", "STORE", tagged}), refused_);
  EXPECT_EQ(Ask({"EVAL", "return 1", "2", "{t}a", tagged}), refused_);
  EXPECT_EQ(Ask({"XREAD", "STREAMS", "{t}a", tagged, "0", "0"}), refused_);
  EXPECT_EQ(in_flight(), 0u);
}

TEST_F(ReservedNames, ACopyIsAmongKeysThatAreSplit) {
  EXPECT_EQ(Ask({"MGET", world.KeyOn(0), world.KeyOn(1), copy_}), refused_);
  EXPECT_EQ(Ask({"MGET", copy_}), refused_);
  EXPECT_EQ(Ask({"MSET", world.KeyOn(0), "1", copy_, "2"}), refused_);
  EXPECT_EQ(Ask({"DEL", copy_, world.KeyOn(2)}), refused_);
  EXPECT_EQ(in_flight(), 0u);
}

TEST_F(ReservedNames, ARefusalIsCountedAsACall) {
  Ask({"GET", copy_});
  Ask({"MGET", copy_});
  const auto stats_of = [&](const char* name) {
    return world.stats.by_command.Peek(protocol::FindCommand(name)->id);
  };
  ASSERT_NE(stats_of("get"), nullptr);
  EXPECT_EQ(stats_of("get")->rejected.Get(), 1u);
  EXPECT_EQ(stats_of("get")->calls.Get(), 0u);
  EXPECT_EQ(stats_of("mget")->rejected.Get(), 1u);
}

TEST_F(ReservedNames, AValueOfThatFormIsRefused) {
  EXPECT_EQ(Ask({"SET", world.KeyOn(0), copy_}), "");
  EXPECT_EQ(Ask({"MSET", world.KeyOn(0), copy_, world.KeyOn(1), copy_}), "");
  EXPECT_EQ(Ask({"HGET", world.KeyOn(0), copy_}), "");
  EXPECT_EQ(Ask({"EVAL", "return 1", "1", world.KeyOn(0), copy_}), "");
  EXPECT_EQ(in_flight(), 5u);
}

}  // namespace
}  // namespace ringway::proxy
