#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "config/values.h"
#include "proxy/control/saved_state.h"

namespace ringway::proxy {
namespace {

using Phase = SavedMove::Phase;

// Values for a state; which ones depends on the seed alone.
class StateMaker {
 public:
  explicit StateMaker(unsigned seed) : random_(seed) {}

  SavedState Make() {
    SavedState state;
    state.proxy_id = Digits();
    state.run_id = Digits();
    state.next_move_id = Count();
    state.ring.virtual_nodes = 1 + static_cast<uint32_t>(random_() % 200);
    if (Chance()) state.ring.balance_cap = std::nullopt;
    if (Chance()) state.ring.hash_tag = "\"\\";
    if (Chance()) {
      state.ring.distribution = ring::Distribution::kKetama;
      state.ring.hash = ring::HashFunction::kMurmur;
    }
    is_ring_ = state.ring.distribution == ring::Distribution::kRing;
    state.shards = Shards(1);
    state.configured = Shards(0);
    if (Chance()) state.move = Move();
    if (Chance()) state.last = Report();
    return state;
  }

 private:
  bool Chance() { return random_() % 2 == 0; }

  std::string Digits() {
    std::string id;
    for (int i = 0; i < 40; ++i) id += "0123456789abcdef"[random_() % 16];
    return id;
  }

  uint64_t Count() { return (uint64_t{random_()} << 31) >> (random_() % 63); }

  // Any bytes: messages hold what servers say.
  std::string Text() {
    std::string text(random_() % 30, ' ');
    for (char& c : text)
      c = static_cast<char>(Chance() ? random_() % 256 : " \"\\'\n#:{}[],-"[random_() % 13]);
    return text;
  }

  std::vector<SavedShard> Shards(size_t least) {
    std::vector<SavedShard> shards(least + random_() % 5);
    for (size_t i = 0; i < shards.size(); ++i) {
      shards[i].name = "s\"'\\#{}[]:&" + std::to_string(i);
      shards[i].address =
          Chance() ? "[::1]:" + std::to_string(i + 1) : "unix:/\"\xc3\xa4\xff:#" + std::to_string(i);
      shards[i].weight = is_ring_ ? static_cast<double>(1 + random_() % 1000) / 7 : 1 + random_() % 9;
    }
    return shards;
  }

  SavedMove Move() {
    SavedMove move;
    move.phase = static_cast<Phase>(random_() % 4);
    move.paused = Chance();
    move.from = Shards(1);
    move.to = Shards(1);
    if (Chance()) move.given_up.push_back(move.from[0].name);
    if (Chance()) move.replaced.push_back(move.to[0].name);
    move.report = Report();
    return move;
  }

  MigrationReport Report() {
    MigrationReport report;
    report.id = Count();
    report.change = Text();
    report.result = Text();
    report.error = Text();
    report.pause_reason = Text();
    report.started_usec = static_cast<int64_t>(Count());
    report.finished_usec = static_cast<int64_t>(Count());
    report.hold_usec = static_cast<int64_t>(Count());
    report.keys_given_up = Count();
    report.big_keys = Count();
    report.pairs.resize(random_() % 4);
    for (MovePairCounts& pair : report.pairs) {
      pair = {Text(), Text(), {Count(), Count(), Count(), Count(), Count(), Count(), 1.0 / (1 + Count())}};
    }
    return report;
  }

  std::mt19937 random_;
  bool is_ring_ = true;
};

std::string Problems(const config::Result<SavedState>& result) {
  std::string text;
  for (const auto& problem : result.problems()) text += problem.ToString() + "\n";
  return text;
}

void ExpectSameReport(const MigrationReport& a, const MigrationReport& b) {
  EXPECT_EQ(std::tie(a.id, a.change, a.result, a.error, a.pause_reason, a.started_usec, a.finished_usec),
            std::tie(b.id, b.change, b.result, b.error, b.pause_reason, b.started_usec, b.finished_usec));
  EXPECT_EQ(std::tie(a.hold_usec, a.keys_given_up, a.big_keys),
            std::tie(b.hold_usec, b.keys_given_up, b.big_keys));
  ASSERT_EQ(a.pairs.size(), b.pairs.size());
  for (size_t i = 0; i < a.pairs.size(); ++i) {
    const MovePairCounts& p = a.pairs[i];
    const MovePairCounts& q = b.pairs[i];
    EXPECT_EQ(
        std::tie(p.from, p.to, p.counts.keys_on_access, p.counts.keys_background, p.counts.keys_absent),
        std::tie(q.from, q.to, q.counts.keys_on_access, q.counts.keys_background, q.counts.keys_absent));
    EXPECT_EQ(std::tie(p.counts.bytes, p.counts.errors, p.counts.remaining, p.counts.share),
              std::tie(q.counts.bytes, q.counts.errors, q.counts.remaining, q.counts.share));
  }
}

void ExpectSame(const SavedState& a, const SavedState& b) {
  EXPECT_EQ(std::tie(a.proxy_id, a.run_id, a.next_move_id, a.shards, a.configured),
            std::tie(b.proxy_id, b.run_id, b.next_move_id, b.shards, b.configured));
  EXPECT_EQ(
      std::tie(a.ring.distribution, a.ring.hash, a.ring.virtual_nodes, a.ring.balance_cap, a.ring.hash_tag),
      std::tie(b.ring.distribution, b.ring.hash, b.ring.virtual_nodes, b.ring.balance_cap, b.ring.hash_tag));
  ASSERT_EQ(a.move.has_value(), b.move.has_value());
  ASSERT_EQ(a.last.has_value(), b.last.has_value());
  if (a.last) ExpectSameReport(*a.last, *b.last);
  if (!a.move) return;
  EXPECT_EQ(a.move->phase, b.move->phase);
  EXPECT_EQ(std::tie(a.move->paused, a.move->from, a.move->to, a.move->given_up, a.move->replaced),
            std::tie(b.move->paused, b.move->from, b.move->to, b.move->given_up, b.move->replaced));
  ExpectSameReport(a.move->report, b.move->report);
}

TEST(SavedState, AnyStateIsReadBackAsAnotherOne) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  StateMaker maker(seed);
  for (int round = 0; round < 300 && !testing::Test::HasFailure(); ++round) {
    const SavedState state = maker.Make();
    const std::string text = WriteState(state);
    const auto read = ReadState(text, "state");
    ASSERT_TRUE(read.ok()) << Problems(read) << text;
    ExpectSame(state, read.value());
  }
}

TEST(SavedState, PartOfAFilePassesForTheWhole) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  StateMaker maker(seed);
  for (int round = 0; round < 3; ++round) {
    const std::string text = WriteState(maker.Make());
    for (size_t size = 0; size < text.size() - 1; ++size) {
      ASSERT_FALSE(ReadState(text.substr(0, size), "state").ok()) << size << " of\n" << text;
    }
    // What is missing is only the end of the last line.
    EXPECT_TRUE(ReadState(text.substr(0, text.size() - 1), "state").ok());
  }
}

TEST(SavedState, FigureBeyondWhatIsReadMakesTheFileUnreadable) {
  SavedState state = StateMaker(1).Make();
  state.last.emplace().id = std::numeric_limits<uint64_t>::max();
  state.last->hold_usec = -5;
  const auto read = ReadState(WriteState(state), "state");
  ASSERT_TRUE(read.ok()) << Problems(read);
  EXPECT_EQ(read.value().last->id, static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(read.value().last->hold_usec, 0);
}

TEST(SavedState, SumsOfAMoveBetweenVeryManyShardsChange) {
  SavedState state = StateMaker(1).Make();
  state.last.emplace();
  for (uint64_t i = 0; i < 2 * kMaxSavedPairs; ++i) {
    state.last->pairs.push_back({"a" + std::to_string(i), "b", {i, 2 * i, 3, i * i, 1, 7, 0.001}});
  }
  const auto read = ReadState(WriteState(state), "state");
  ASSERT_TRUE(read.ok()) << Problems(read);
  EXPECT_EQ(read.value().last->pairs.size(), kMaxSavedPairs + 1);
  EXPECT_EQ(read.value().last->pairs.back().from, kOtherShards);
  const MoveCounts before = state.last->Total();
  const MoveCounts after = read.value().last->Total();
  EXPECT_EQ(std::tie(before.keys_on_access, before.keys_background, before.keys_absent, before.bytes),
            std::tie(after.keys_on_access, after.keys_background, after.keys_absent, after.bytes));
  EXPECT_EQ(std::tie(before.errors, before.remaining), std::tie(after.errors, after.remaining));
  EXPECT_NEAR(before.share, after.share, 1e-9);
}

// A state of two shards with one text replaced by another.
std::string MistakeIn(const std::string& text, const std::string& replacement) {
  SavedState state;
  state.proxy_id = state.run_id = std::string(40, 'a');
  state.shards = {{"a", "h:1", 1}, {"b", "h:2", 2}};
  state.configured = state.shards;
  state.move = SavedMove{Phase::kMoving, false, state.shards, {{"b", "h:3", 2}}, {"a"}, {"b"}, {}};
  state.last.emplace();
  std::string file = WriteState(state);
  EXPECT_TRUE(ReadState(file, "f").ok()) << Problems(ReadState(file, "f"));
  const size_t at = file.find(text);
  EXPECT_NE(at, std::string::npos) << text << " in\n" << file;
  if (at != std::string::npos) file.replace(at, text.size(), replacement);
  return Problems(ReadState(file, "f"));
}

TEST(SavedState, MistakeIsLetThroughOrHasNoLine) {
  EXPECT_EQ(MistakeIn("ringway_state: 1", "ringway_state: 2"),
            "f:3: a state of another version of ringway: expected ringway_state: 1, found \"2\"\n");
  EXPECT_EQ(
      MistakeIn("proxy_id: \"aaa", "proxy_id: \"xaa"),
      "f:4: proxy_id: expected 40 hexadecimal digits, found \"xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"\n");
  EXPECT_EQ(MistakeIn("next_move_id: 1", "next_move_id: -1"),
            "f:6: next_move_id: expected a whole number, found \"-1\"\n");
  EXPECT_EQ(MistakeIn("next_move_id: 1", "next_move_no: 1"),
            "f:3: there is no next_move_id\nf:6: there is no key \"next_move_no\"\n");
  EXPECT_EQ(MistakeIn("next_move_id: 1", "proxy_id: 1"),
            "f:6: \"proxy_id\" is there twice\nf:3: there is no next_move_id\n");
  EXPECT_TRUE(MistakeIn("distribution: \"ring\"", "distribution: \"rong\"")
                  .starts_with("f:7: ring.distribution: expected one of"));
  EXPECT_TRUE(
      MistakeIn("hash: \"xxh3\"", "hash: \"md5\"").starts_with("f:9: shards: distribution ring hashes with"));
  EXPECT_EQ(MistakeIn("\"b\", address: \"h:2\"", "\"a\", address: \"h:2\""),
            "f:10: the name \"a\" is there twice\n");
  EXPECT_EQ(MistakeIn("\"b\", address: \"h:2\"", "\"b\", address: \"H:1\""),
            "f:10: the address \"H:1\" is there twice\n");
  EXPECT_TRUE(
      MistakeIn("name: \"b\"", "name: \"b b\"").starts_with("f:10: name: expected a name of 1 to 128"));
  EXPECT_TRUE(
      MistakeIn("address: \"h:2\"", "address: \"h\"").starts_with("f:10: address: expected host:port"));
  EXPECT_EQ(MistakeIn("weight: 2", "weight: -2"),
            "f:10: weight: expected a number from 0 to 1000000, found \"-2\"\n");
  EXPECT_EQ(MistakeIn("phase: moving", "phase: running"),
            "f:15: phase: expected holding, moving, aborting or settling, found \"running\"\n");
  EXPECT_EQ(MistakeIn("paused: false", "paused: 0"), "f:16: paused: expected true or false, found \"0\"\n");
  EXPECT_EQ(MistakeIn("given_up: [\"a\"]", "given_up: [\"x\"]"),
            "f:22: given_up: expected the name of a shard of this move, found \"x\"\n");
  EXPECT_EQ(MistakeIn("replaced: [\"b\"]", "replaced: [\"a\"]"),
            "f:23: replaced: expected the name of a shard of this move, found \"a\"\n");
  EXPECT_EQ(MistakeIn("pairs: []", "pairs: 7"), "f:35: pairs: expected a list, found \"7\"\n");
  EXPECT_EQ(MistakeIn("last:", "lost:").substr(0, 33), "f:37: there is no key \"lost\"\n");
  EXPECT_EQ(MistakeIn("end: true", "end: false"),
            "f:48: the file is cut short: its last line has to be end: true\n");
  EXPECT_EQ(
      MistakeIn("end: true", "end: true\nmore: 1"),
      "f:49: the file is cut short: its last line has to be end: true\nf:49: there is no key \"more\"\n");
}

TEST(SavedState, FileOfAnotherProgramIsTakenForAState) {
  for (const char* const text :
       {"", "7", "[]", "shards:\n- {name: a, address: 'h:1'}\n", "alpha:\n  listen: 1\n"}) {
    const std::string problems = Problems(ReadState(text, "f"));
    EXPECT_NE(problems.find("no state of a proxy, which begins with ringway_state: 1\n"), std::string::npos)
        << text;
  }
  EXPECT_TRUE(Problems(ReadState("a: [", "f")).starts_with("f:1: not YAML:"));
  EXPECT_FALSE(ReadState(std::string("\0\0\0", 3), "f").ok());
}

TEST(SavedState, LargestRingDoesNotFit) {
  SavedState state = StateMaker(1).Make();
  state.ring = {};
  state.ring.virtual_nodes = 8;
  std::vector<SavedShard> shards;
  for (uint32_t i = 0; i < ring::kMaxMembers; ++i) {
    shards.push_back({"name" + std::to_string(i), "h:" + std::to_string(i + 1), 1});
  }
  state.shards = state.configured = shards;
  state.last.reset();
  state.move = SavedMove{Phase::kMoving, false, shards, shards, {}, {}, {}};
  for (const SavedShard& shard : shards) state.move->replaced.push_back(shard.name);
  const auto read = ReadState(WriteState(state), "f");
  ASSERT_TRUE(read.ok()) << Problems(read).substr(0, 1000);
  EXPECT_EQ(read.value().move->to.size(), ring::kMaxMembers);
}

}  // namespace
}  // namespace ringway::proxy
