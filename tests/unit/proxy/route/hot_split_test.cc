// Commands of several keys of which some are hot.
#include "tests/unit/proxy/route/hot_fixture.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class HotSplitTest : public HotTest {
 protected:
  const std::string cold = world.KeyOn(0, "cold");
  const std::string remote = world.KeyOn(2, "remote");
  // Another hot key of shard 0, with its copy on shard 2.
  const std::string twin = world.KeyOn(0, "twin");
  const std::shared_ptr<HotPlacement> twin_placement = hot.Make(twin, {2});
  std::string twin_copy = hot.Fill(*twin_placement);
};

TEST_F(HotSplitTest, AHotKeyGoesWithTheOthersOfItsShard) {
  EXPECT_EQ(Ask({"MGET", cold, key, remote, twin, cold}), "");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("MGET", cold, cold)));
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("MGET", copy)));
  EXPECT_THAT(world.TakeRequests(2),
              ElementsAre(ElementsAre("MGET", remote), ElementsAre("MGET", twin_copy)));
  Reply(2, "*1\r\n" + Bulk("r") + "*1\r\n" + Bulk("t"));
  Reply(0, "*2\r\n" + Bulk("c") + Bulk("d"));
  EXPECT_EQ(Reply(1, "*1\r\n" + Bulk("k")),
            "*5\r\n" + Bulk("c") + Bulk("k") + Bulk("r") + Bulk("t") + Bulk("d"));
}

TEST_F(HotSplitTest, OneHotKeyAloneIsAskedOfItsOwnShard) {
  EXPECT_EQ(Ask({"MGET", key}), "");
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("MGET", copy)));
  EXPECT_EQ(FromCopy("*1\r\n$1\r\nv\r\n"), "*1\r\n$1\r\nv\r\n");
}

TEST_F(HotSplitTest, ExistsIsNotAddedUp) {
  Ask({"EXISTS", key, cold, key});
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("EXISTS", copy), ElementsAre("EXISTS", copy)));
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("EXISTS", cold)));
  FromCopy(":1\r\n:1\r\n");
  EXPECT_EQ(FromKey(":1\r\n"), ":3\r\n");
}

TEST_F(HotSplitTest, AMissingCopyShowsAsAMissingKeyAmongOthers) {
  Ask({"MGET", cold, key});
  world.TakeRequests(0);
  EXPECT_EQ(FromKey("*1\r\n" + Bulk("c")), "");
  EXPECT_EQ(FromCopy("*1\r\n$-1\r\n"), "");
  EXPECT_EQ(FromCopy(":0\r\n"), "");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("MGET", key)));
  EXPECT_EQ(FromKey("*1\r\n" + Bulk("v")), "*2\r\n" + Bulk("c") + Bulk("v"));
}

TEST_F(HotSplitTest, ACopyThatIsThereIsDoubted) {
  Ask({"MGET", cold, key});
  FromKey("*1\r\n" + Bulk("c"));
  FromCopy("*1\r\n$-1\r\n");
  EXPECT_EQ(FromCopy(":1\r\n"), "*2\r\n" + Bulk("c") + "$-1\r\n") << "the key holds no string";
}

TEST_F(HotSplitTest, AnErrorOfACopyIsTheReplyOfAll) {
  Ask({"MGET", cold, key});
  world.TakeRequests(0);
  FromKey("*1\r\n" + Bulk("c"));
  EXPECT_EQ(FromCopy("-BUSY\r\n"), "");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("MGET", key)));
  EXPECT_EQ(FromKey("-BUSY\r\n"), "-BUSY\r\n");
}

TEST_F(HotSplitTest, ClientsOfResp3GetPartsOfResp2) {
  Ask({"HELLO", "3"});
  Ask({"MGET", cold, key});
  FakeShard::Feed(world.session(0, 0, 3), "*1\r\n_\r\n");
  EXPECT_THAT(world.TakeRequests(1, 0, 3), ElementsAre(ElementsAre("MGET", copy)));
  FakeShard::Feed(world.session(1, 0, 3), "*1\r\n_\r\n");
  EXPECT_THAT(world.TakeRequests(1, 0, 3), ElementsAre(ElementsAre("EXISTS", copy)));
  FakeShard::Feed(world.session(1, 0, 3), ":0\r\n");
  FakeShard::Feed(world.session(0, 0, 3), "*1\r\n$1\r\nv\r\n");
  world.EndTurn();
  EXPECT_EQ(client->Take(), "*2\r\n_\r\n$1\r\nv\r\n");
}

TEST_F(HotSplitTest, AClientThatGoesLeavesItsPartsBehind) {
  Ask({"MGET", cold, key});
  client.reset();
  world.Reply(1, "*1\r\n$-1\r\n");
  world.Reply(0, "*1\r\n" + Bulk("c"));
  world.Reply(1, ":0\r\n");
  world.Reply(0, "*1\r\n" + Bulk("v"));
  EXPECT_EQ(world.requests.in_use(), 0u);
}

// --- order ---

TEST_F(HotSplitTest, AReadOfSeveralKeysGoesToTheKeyWhileItsClientsReadsAreAtACopy) {
  Ask({"GET", key});
  FakeClient other(world.environment, 8);
  other.Send(Command({"SET", key, "new"}));
  world.TakeRequests(0);
  Ask({"MGET", cold, key});
  EXPECT_TRUE(client->session().stalled());
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  FromCopy("$3\r\nold\r\n");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("MGET", cold, key)));
}

TEST_F(HotSplitTest, AKeyThatNeedNotWaitLetsOnePassThatMust) {
  Ask({"GET", key});
  Ask({"GET", twin});
  FakeClient other(world.environment, 8);
  other.Send(Command({"SET", key, "new"}));
  world.TakeRequests(0);
  Ask({"MGET", key, twin});
  EXPECT_TRUE(client->session().stalled());
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
}

// Both keys of the MGET are read at their own shard, so what follows must not be answered by a copy.
TEST_F(HotSplitTest, AReadBehindOneOfSeveralKeysIsAnsweredByACopy) {
  hot.Burden(1, 2'000'000);
  hot.Burden(2, 2'000'000);
  Ask({"MGET", key, twin});
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("MGET", key, twin)));
  hot.Relieve(1, 2'000'000);
  hot.Relieve(2, 2'000'000);
  Ask({"GET", key});
  Ask({"GET", twin});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_THAT(world.TakeRequests(2), IsEmpty());
  EXPECT_THAT(world.TakeRequests(0), SizeIs(2));
}

TEST_F(HotSplitTest, AReadBehindACommandOnSeveralKeysIsAnsweredByACopy) {
  const std::string tag = "{" + world.KeyOn(0, "t") + "}";
  const std::string a = tag + "a";
  const auto one = hot.Make(a, {1});
  const auto two = hot.Make(tag + "b", {1});
  hot.Fill(*one);
  hot.Fill(*two);
  Ask({"SINTER", a, tag + "b"});
  Ask({"SCARD", a});
  Ask({"SCARD", tag + "b"});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_THAT(world.TakeRequests(0), SizeIs(3));
}

TEST_F(HotSplitTest, AKeyThatIsNamedTwiceIsReadAtTwoPlaces) {
  // As if by chance the key itself were chosen first.
  for (int i = 0; i < 20; ++i) {
    const bool key_first = i % 2 == 0;
    if (key_first) hot.Burden(1, 2'000'000);
    Ask({"MGET", key, cold, key});
    if (key_first) hot.Relieve(1, 2'000'000);
    const auto at_key = world.TakeRequests(0);
    EXPECT_THAT(world.TakeRequests(1), SizeIs(key_first ? 0 : 2));
    ASSERT_THAT(at_key, SizeIs(1));
    if (!key_first) FromCopy("*1\r\n$1\r\nv\r\n*1\r\n$1\r\nv\r\n");
    FromKey(key_first ? "*3\r\n+a\r\n+b\r\n+a\r\n" : "*1\r\n+b\r\n");
    EXPECT_EQ(client->session().pending(), 0u);
  }
}

TEST_F(HotSplitTest, AReadThatNamesAHotKeyTooOftenHangs) {
  std::vector<std::string> args = {"EXISTS"};
  args.insert(args.end(), 3 * HotTrail::kMaxFollowers, key);
  Ask(args);
  EXPECT_EQ(client->session().pending(), 1u);
  FakeClient other(world.environment, 8);
  hot.Burden(1, 2'000'000);
  other.Send(Command(args));
  EXPECT_EQ(other.session().pending(), 1u) << "all of it is at the key itself";
}

TEST_F(HotSplitTest, AReadThatNamesAHotKeyTooOftenHangsBehindOthers) {
  Ask({"GET", key});
  Ask({"GET", key});
  std::vector<std::string> args = {"EXISTS"};
  args.insert(args.end(), 3 * HotTrail::kMaxFollowers, key);
  Ask(args);
  EXPECT_TRUE(client->session().stalled());
  FromCopy("$1\r\nv\r\n$1\r\nv\r\n");
  EXPECT_EQ(client->session().pending(), 1u);
}

TEST_F(HotSplitTest, AReadFollowsTheCopyThoughAPartIsAtTheKeyItself) {
  for (const size_t keys : {1024, 1025}) {
    std::vector<std::string> args(1 + keys, key);
    args[0] = "MGET";
    client->Send(Command(args));
    client->Send(Command({"GET", key}));
    world.EndTurn();
    const size_t at_key = world.TakeRequests(0).size();
    const size_t at_copy = world.TakeRequests(1).size();
    EXPECT_EQ(at_key, keys == 1024 ? 0U : 2U);
    EXPECT_EQ(at_copy, keys == 1024 ? 1025U : 0U);
    client = nullptr;
    client = std::make_unique<FakeClient>(world.environment, 1);
  }
}

}  // namespace
}  // namespace ringway::proxy
