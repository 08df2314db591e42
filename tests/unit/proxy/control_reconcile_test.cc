#include <gtest/gtest.h>

#include "config/config_file.h"
#include "config/values.h"
#include "proxy/control/reconcile.h"

namespace ringway::proxy {
namespace {

using config::Config;

const std::string kProxyId(40, 'a');
const std::string kRunId(40, 'b');

// Of "a=h:1*2" and its like, each a shard; in the file's order.
Config File(const std::string& shards, const std::string& more = "") {
  std::string yaml = "shards:\n";
  for (const std::string& shard : config::SplitAtBlanks(shards)) {
    const size_t equals = shard.find('=');
    const size_t star = shard.find('*');
    yaml += "- {name: " + shard.substr(0, equals) + ", address: '" +
            shard.substr(equals + 1, star - equals - 1) + "'" +
            (star == std::string::npos ? "" : ", weight: " + shard.substr(star + 1)) + "}\n";
  }
  const auto config = config::ParseConfig(yaml + more, "f");
  EXPECT_TRUE(config.ok()) << config.problems().front().ToString();
  return config.ok() ? config.value() : Config();
}

template <typename Shards>
std::string Text(const Shards& shards) {
  std::string text;
  for (const auto& shard : shards) {
    text += (text.empty() ? "" : " ") + shard.name + "=" + shard.address;
    if (shard.weight != 1) text += "*" + config::FormatDecimal(shard.weight);
  }
  return text;
}

std::string Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// The fact is `fact`, the file said `before` when it was taken and says `now`.
Reconciled Do(const std::string& fact, const std::string& before, const std::string& now) {
  return Reconcile(File(fact), ToSaved(File(before).shards), File(now));
}

TEST(Reconcile, ReloadOfTheSameListUndoesWhatCommandsHaveChanged) {
  // c was added, a reweighed and b replaced by commands; the file is only ordered otherwise.
  const Reconciled result = Do("a=h:1*3 b=h:9 c=h:3", "a=h:1 b=h:2", "b=h:2 a=h:1");
  EXPECT_TRUE(result.changes.empty());
  EXPECT_EQ(Text(result.config.shards), "a=h:1*3 b=h:9 c=h:3");
  EXPECT_EQ(Text(result.configured), "b=h:2 a=h:1");
  EXPECT_TRUE(result.notes.empty()) << Lines(result.notes);
  EXPECT_TRUE(result.warnings.empty()) << Lines(result.warnings);
}

TEST(Reconcile, ChangedListIsNoWish) {
  const Reconciled result = Do("a=h:1 b=h:2", "a=h:1 b=h:2", "b=h:2*4 c=h:3*2");
  EXPECT_EQ(ToString(result.changes), "REMOVE a WEIGHT b 4 ADD c h:3 WEIGHT 2");
  EXPECT_EQ(Text(result.config.shards), "a=h:1 b=h:2");
  EXPECT_TRUE(result.notes.empty()) << Lines(result.notes);
  // As long as the changes have not begun the wish is not fulfilled, and is tried at each start.
  EXPECT_EQ(Text(result.configured), "a=h:1 b=h:2");
  EXPECT_EQ(Text(result.configured_begun), "b=h:2*4 c=h:3*2");
}

TEST(Reconcile, ChangedListCountsNotAsAWhole) {
  // Only d is new in the file, but the list says what there is to be: c was added and a reweighed by
  // commands.
  const Reconciled result = Do("a=h:1*3 b=h:2 c=h:3", "a=h:1 b=h:2", "a=h:1 b=h:2 d=h:4");
  EXPECT_EQ(ToString(result.changes), "REMOVE c WEIGHT a 1 ADD d h:4 WEIGHT 1");
}

TEST(Reconcile, FileThatFollowsTheCommandsMovesKeysAgain) {
  const Reconciled result = Do("a=h:1 b=h:9 c=h:3", "a=h:1 b=h:2", "a=h:1 b=h:9 c=h:3");
  EXPECT_TRUE(result.changes.empty());
  EXPECT_TRUE(result.warnings.empty()) << Lines(result.warnings);
  EXPECT_EQ(Text(result.configured), "a=h:1 b=h:9 c=h:3");
}

TEST(Reconcile, ShardThatWasReplacedGoesBackToTheServerItGaveUp) {
  const Reconciled result = Do("a=h:1 b=h:9", "a=h:1 b=h:2", "a=h:1 b=h:2 c=h:3");
  EXPECT_EQ(ToString(result.changes), "ADD c h:3 WEIGHT 1");
  EXPECT_EQ(Text(result.config.shards), "a=h:1 b=h:9");
  EXPECT_EQ(Lines(result.warnings),
            "shard b has been replaced and stays at h:9; the file still has it at h:2\n");
  // Nor at the next time.
  const Reconciled again =
      Reconcile(File("a=h:1 b=h:9 c=h:3"), result.configured_begun, File("a=h:1 b=h:2 c=h:3*2"));
  EXPECT_EQ(ToString(again.changes), "WEIGHT c 2");
  EXPECT_EQ(Text(again.config.shards), "a=h:1 b=h:9 c=h:3");
}

TEST(Reconcile, ShardThatMovesHouseMovesKeys) {
  const Reconciled result = Do("a=h:1 b=h:2", "a=h:1 b=h:2", "a=h:7 b=h:2");
  EXPECT_TRUE(result.changes.empty());
  EXPECT_EQ(Text(result.config.shards), "a=h:7 b=h:2");
  EXPECT_EQ(result.config.shards[0].port, 7);
  EXPECT_EQ(Lines(result.notes), "shard readdressed a from h:1 to h:7\n");
  EXPECT_EQ(Text(result.configured), "a=h:7 b=h:2");
}

TEST(Reconcile, HouseMoveIsForgottenWhenTheChangesBesideItAreRefused) {
  const Reconciled result = Do("a=h:1 b=h:2", "a=h:1 b=h:2", "a=h:7 b=h:2 c=h:3");
  EXPECT_EQ(Text(result.config.shards), "a=h:7 b=h:2");
  EXPECT_EQ(ToString(result.changes), "ADD c h:3 WEIGHT 1");
  EXPECT_EQ(Text(result.configured), "a=h:7 b=h:2");
  // c was refused, then a replaced: the file has its old address, which is no wish.
  const Reconciled again = Reconcile(File("a=h:8 b=h:2"), result.configured, File("a=h:7 b=h:2 c=h:3"));
  EXPECT_EQ(Text(again.config.shards), "a=h:8 b=h:2");
}

TEST(Reconcile, HouseMoveThatHasToWaitIsForgotten) {
  // b's address is free only when its keys have moved.
  const Reconciled result = Do("a=h:1 b=h:2", "a=h:1 b=h:2", "a=h:2");
  EXPECT_EQ(ToString(result.changes), "REMOVE b");
  EXPECT_EQ(Text(result.config.shards), "a=h:1 b=h:2");
  EXPECT_TRUE(Lines(result.warnings).starts_with("not taken: shard readdressed a from h:1 to h:2: "))
      << Lines(result.warnings);
  const Reconciled again = Reconcile(File("a=h:1"), result.configured_begun, File("a=h:2"));
  EXPECT_EQ(Text(again.config.shards), "a=h:2");
}

TEST(Reconcile, OptionsAreTakenOnlyWithAList) {
  const Config in_force = File("a=h:1 c=h:3", "shard_auth: {password: old}\n");
  const Config file = File("a=h:1", "shard_auth: {password: new}\nlimits: {clients: 7}\nthreads: 3\n");
  const Reconciled result = Reconcile(in_force, ToSaved(file.shards), file);
  EXPECT_EQ(result.config.limits.clients, 7);
  EXPECT_EQ(result.config.threads, 0);
  EXPECT_EQ(Text(result.config.shards), "a=h:1 c=h:3");
  EXPECT_EQ(result.config.shards[0].password, "new");
  // Added by a command, so it goes by shard_auth.
  EXPECT_EQ(result.config.shards[1].password, "new");
  EXPECT_EQ(Lines(result.notes).find("old"), std::string::npos);
  EXPECT_EQ(Lines(result.notes).find("new\n"), std::string::npos);
}

SavedState Saved(const std::string& fact, const std::string& configured) {
  SavedState state = Begin(File(configured), std::nullopt, kProxyId, std::string(40, 'c')).state;
  state.shards = ToSaved(File(fact).shards);
  return state;
}

TEST(Begin, FirstStartIsNotWhatTheFileSays) {
  const Beginning first = Begin(File("a=h:1 b=h:2*3"), std::nullopt, kProxyId, kRunId);
  EXPECT_EQ(first.state.proxy_id, kProxyId);
  EXPECT_EQ(first.state.run_id, kRunId);
  EXPECT_EQ(Text(first.state.shards), "a=h:1 b=h:2*3");
  EXPECT_EQ(Text(first.state.configured), "a=h:1 b=h:2*3");
  EXPECT_EQ(Text(first.config.shards), "a=h:1 b=h:2*3");
  EXPECT_FALSE(first.resumed);
  EXPECT_TRUE(first.changes.empty() && first.warnings.empty() && first.notes.empty());
}

TEST(Begin, FinishedChangeIsLostByARestart) {
  const SavedState saved = Saved("a=h:1 c=h:3*2", "a=h:1 b=h:2");
  const Beginning next = Begin(File("a=h:1 b=h:2", "shard_auth: {password: p}\n"), saved, kRunId, kRunId);
  EXPECT_EQ(next.state.proxy_id, kProxyId);
  EXPECT_EQ(next.state.run_id, kRunId);
  EXPECT_EQ(Text(next.config.shards), "a=h:1 c=h:3*2");
  EXPECT_EQ(next.config.shards[1].password, "p");
  EXPECT_EQ(Text(next.state.shards), "a=h:1 c=h:3*2");
  EXPECT_TRUE(next.changes.empty() && next.warnings.empty()) << Lines(next.warnings);
}

TEST(Begin, FileThatWasChangedMeanwhileIsServedAtOnce) {
  const Beginning next = Begin(File("a=h:7 d=h:4"), Saved("a=h:1 c=h:3", "a=h:1 b=h:2"), kProxyId, kRunId);
  EXPECT_EQ(Text(next.config.shards), "a=h:7 c=h:3");
  EXPECT_EQ(ToString(next.changes), "REMOVE c ADD d h:4 WEIGHT 1");
  EXPECT_EQ(Text(next.state.shards), "a=h:7 c=h:3");
  EXPECT_EQ(Text(next.state.configured), "a=h:7 b=h:2");
  EXPECT_EQ(Text(next.configured_begun), "a=h:7 d=h:4");
  EXPECT_EQ(Lines(next.notes), "shard readdressed a from h:1 to h:7\n");
}

TEST(Begin, OtherRingOptionsMissNearlyAllKeys) {
  const Config file = File("a=h:1", "ring: {virtual_nodes: 64, balance_cap: off, multi_key: same_shard}\n");
  const Beginning next = Begin(file, Saved("a=h:1", "a=h:1"), kProxyId, kRunId);
  EXPECT_EQ(next.config.ring.virtual_nodes, 4096u);
  EXPECT_EQ(next.config.multi_key, config::MultiKey::kSameShard);
  EXPECT_EQ(
      Lines(next.warnings),
      "not taken: ring.virtual_nodes \"64\": the keys have been placed with \"4096\", and would be missed\n"
      "not taken: ring.balance_cap \"off\": the keys have been placed with \"0.01\", and would be missed\n");
  EXPECT_TRUE(next.notes.empty()) << Lines(next.notes);
}

SavedState Moving(const std::string& from, const std::string& to, const std::string& configured) {
  SavedState saved = Saved(from, configured);
  saved.move.emplace();
  saved.move->phase = SavedMove::Phase::kMoving;
  saved.move->from = ToSaved(File(from).shards);
  saved.move->to = ToSaved(File(to).shards);
  return saved;
}

TEST(Begin, MoveUnderWayIsOvertakenByTheFile) {
  const SavedState saved = Moving("a=h:1 b=h:2", "a=h:1 b=h:2 c=h:3", "a=h:1 b=h:2");
  const Config file = File("a=h:7 b=h:2 d=h:4", "shard_auth: {password: p}\n");
  const Beginning next = Begin(file, saved, kProxyId, kRunId);
  ASSERT_TRUE(next.resumed);
  EXPECT_TRUE(next.changes.empty());
  EXPECT_EQ(Text(next.resumed->from), "a=h:7 b=h:2");
  EXPECT_EQ(Text(next.resumed->to), "a=h:7 b=h:2 c=h:3");
  EXPECT_EQ(next.resumed->to[2].password, "p");
  EXPECT_EQ(next.resumed->to[2].port, 3);
  EXPECT_EQ(Text(next.state.move->to), "a=h:7 b=h:2 c=h:3");
  EXPECT_EQ(Text(next.config.shards), "a=h:7 b=h:2");
  EXPECT_EQ(Text(next.state.configured), "a=h:7 b=h:2");
  // When it has settled the file has its turn.
  Config settled = next.config;
  settled.shards = next.resumed->to;
  const Reconciled then = Reconcile(settled, next.state.configured, file);
  EXPECT_EQ(ToString(then.changes), "REMOVE c ADD d h:4 WEIGHT 1");
}

TEST(Begin, ReplacedShardOfAMoveUnderWayIsSentToAnotherServer) {
  SavedState saved = Moving("a=h:1 b=h:2", "a=h:1 b=h:9", "a=h:1 b=h:2");
  saved.move->replaced = {"b"};
  const Beginning next = Begin(File("a=h:1 b=h:9"), saved, kProxyId, kRunId);
  EXPECT_EQ(Text(next.resumed->from), "a=h:1 b=h:2");
  EXPECT_EQ(Text(next.resumed->to), "a=h:1 b=h:9");
  EXPECT_EQ(Text(next.state.configured), "a=h:1 b=h:2");
}

TEST(Begin, HouseMoveGivesTwoServersOfAMoveOneAddress) {
  const SavedState saved = Moving("a=h:1 b=h:2", "a=h:1 c=h:3", "a=h:1 b=h:2");
  const Beginning next = Begin(File("a=h:2"), saved, kProxyId, kRunId);
  EXPECT_EQ(Text(next.resumed->from), "a=h:1 b=h:2");
  EXPECT_EQ(Text(next.state.configured), "a=h:1 b=h:2");
  EXPECT_TRUE(next.notes.empty());
  EXPECT_TRUE(Lines(next.warnings).starts_with("not taken: other addresses of shards"));
}

}  // namespace
}  // namespace ringway::proxy
