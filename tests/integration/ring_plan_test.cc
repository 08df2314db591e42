// RING PLAN: what it foretells, and what it refuses. Nothing moves here.
#include <string>
#include <vector>

#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

double Number(const Reply* reply) {
  return reply == nullptr || reply->text.empty() ? -1 : std::stod(reply->text);
}

class RingPlan : public CustomProxyTest {
 protected:
  void SetUp() override { RINGWAY_NEEDS_PROXY(); }

  static Command Plan(const std::vector<std::string>& changes) {
    Command command = {"ring", "plan"};
    command.insert(command.end(), changes.begin(), changes.end());
    return command;
  }

  static int64_t SumOfMoves(const Reply& plan, const std::string& field) {
    int64_t sum = 0;
    for (const Reply& move : plan.Find("moves")->elements) sum += move.Find(field)->integer;
    return sum;
  }
};

TEST_F(RingPlan, EstimatesAreFarFromWhatTheShardsHold) {
  Start({});
  Fill(9000);
  const Reply plan = Do(Plan({"ADD", "s4", "127.0.0.1:1"}));
  ASSERT_TRUE(plan.IsArray()) << plan;
  EXPECT_NEAR(Number(plan.Find("moving_share")), 0.25, 0.01);
  EXPECT_NEAR(Number(plan.Find("least_possible_share")), 0.25, 0.0001);
  EXPECT_NEAR(static_cast<double>(plan.Find("keys")->integer), 2250, 150);
  EXPECT_EQ(plan.Find("keys")->integer, SumOfMoves(plan, "keys"));
  EXPECT_EQ(plan.Find("bytes")->integer, SumOfMoves(plan, "bytes"));
  // A key and a value of 8 bytes take tens of bytes.
  EXPECT_GT(plan.Find("bytes")->integer, plan.Find("keys")->integer * 20);
  EXPECT_LT(plan.Find("bytes")->integer, plan.Find("keys")->integer * 1000);
  EXPECT_THAT(plan.Find("shards_after")->elements, SizeIs(4));
  EXPECT_EQ(plan.Find("shards_after")->elements[3].Find("name")->text, "s4");
  EXPECT_NEAR(Number(plan.Find("shards_after")->elements[3].Find("share")), 0.25, 0.01);
  EXPECT_NEAR(Number(plan.Find("balance_after")->Find("max_over_mean")), 1, 0.011);
  EXPECT_THAT(plan.Find("not_estimated")->elements, IsEmpty());
  EXPECT_THAT(plan.Find("given_up")->elements, IsEmpty());
}

TEST_F(RingPlan, PlanChangesSomething) {
  Start({});
  Fill(300);
  const std::string before = Ask({"RING", "LIST"});
  EXPECT_FALSE(
      Do(Plan({"REMOVE", "s1", "WEIGHT", "s2", "5", "ADD", "s4", "127.0.0.1:1", "WEIGHT", "2"})).IsError());
  EXPECT_EQ(Ask({"RING", "LIST"}), before);
  EXPECT_EQ(Do({"DBSIZE"}).integer, 300);
}

TEST_F(RingPlan, Resp3ClientGetsAnArrayForAMap) {
  Start({});
  const std::string two = ToText(Do(Plan({"REMOVE", "s3"})));
  EXPECT_THAT(two, StartsWith("[\"moving_share\", \"0.3"));
  Do({"HELLO", "3"});
  const Reply three = Do(Plan({"REMOVE", "s3"}));
  EXPECT_EQ(three.type, '%');
  EXPECT_EQ(three.Find("moving_share")->type, ',');
  EXPECT_EQ(three.Find("balance_before")->type, '%');
  EXPECT_EQ(three.Find("moves")->elements.at(0).type, '%');
  // Pipelined among others it keeps its place.
  const auto replies = client_.Pipeline({{"PING"}, Plan({"REMOVE", "s3"}), {"SET", "k", "v"}, {"GET", "k"}});
  EXPECT_EQ(ToText(replies[0]), "+PONG");
  // Not all of it is alike: the shards' memory changes meanwhile.
  ASSERT_EQ(replies[1].type, '%');
  EXPECT_EQ(ToText(*replies[1].Find("balance_after")), ToText(*three.Find("balance_after")));
  EXPECT_EQ(ToText(replies[3]), "\"v\"");
}

TEST_F(RingPlan, DeadShardMakesThePlanFailOrCountsAsEmpty) {
  ClusterOptions options;
  options.config = "timeouts: {connect: 300ms, request: 600ms}\n";
  Start(options);
  Fill(300);
  shard(1).Kill();
  const auto left_out = [&] {
    const Reply plan = Do(Plan({"ADD", "s4", "127.0.0.1:1"}));
    return plan.IsArray() ? plan.Find("not_estimated")->Texts() : std::vector<std::string>();
  };
  EXPECT_TRUE(Eventually([&] { return left_out() == std::vector<std::string>{"s2"}; }));
  const Reply forced = Do(Plan({"REMOVE", "s2", "FORCE"}));
  EXPECT_THAT(forced.Find("given_up")->Texts(), ElementsAre("s2"));
  EXPECT_THAT(forced.Find("not_estimated")->elements, IsEmpty());
}

TEST_F(RingPlan, WrongFormIsTakenOrNotExplained) {
  Start({});
  EXPECT_THAT(Ask(Plan({})), StartsWith("-ERR no change was given; a change is ADD name address [WEIGHT w]"));
  EXPECT_THAT(Ask(Plan({"SHIFT", "s1"})),
              StartsWith("-ERR expected ADD, REMOVE, WEIGHT or REPLACE, found \"SHIFT\""));
  EXPECT_THAT(Ask(Plan({"ADD", "s4"})), StartsWith("-ERR ADD s4 has no address; a change is"));
  EXPECT_THAT(Ask(Plan({"ADD", "s1", "127.0.0.1:1"})),
              StartsWith("-ERR the name s1 is already taken, by 127.0.0.1:"));
  EXPECT_EQ(Ask(Plan({"ADD", "s4", shard(0).address()})),
            "-ERR the address " + shard(0).address() + " is already that of shard s1");
  EXPECT_EQ(Ask(Plan({"REMOVE", "other"})), "-ERR there is no shard \"other\"");
  EXPECT_EQ(Ask(Plan({"WEIGHT", "s1", "1"})), "-ERR nothing would change: shard s1 has weight 1 already");
  EXPECT_EQ(Ask(Plan({"REMOVE", "s1", "REMOVE", "s2", "REMOVE", "s3"})),
            "-ERR shard s3 is the last one, and somebody has to own the keys");
  // Every form of up to three words is answered, and none of these is a change.
  const std::vector<std::string> words = {"ADD",
                                          "remove",
                                          "Weight",
                                          "REPLACE",
                                          "FORCE",
                                          "s1",
                                          "",
                                          "-1",
                                          "\r\n",
                                          std::string("\0\xff", 2),
                                          "99999999999999999999"};
  for (const std::string& first : words) {
    EXPECT_TRUE(Do(Plan({first})).IsError()) << first;
    for (const std::string& second : words) {
      const bool removes = first == "remove" && second == "s1";
      EXPECT_EQ(Do(Plan({first, second})).IsError(), !removes) << first << " " << second;
      for (const std::string& third : words) {
        const bool gives_up = removes && third == "FORCE";
        EXPECT_EQ(Do(Plan({first, second, third})).IsError(), !gives_up)
            << first << " " << second << " " << third;
      }
    }
  }
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

TEST_F(RingPlan, ClientThatGoesMeanwhileTakesTheProxyWithIt) {
  Start({});
  for (int i = 0; i < 20; ++i) {
    RespClient client = Connect();
    client.Send(Plan({"REMOVE", "s3"}));
  }
  EXPECT_TRUE(Do(Plan({"REMOVE", "s3"})).IsArray());
}

}  // namespace
}  // namespace ringway::test
