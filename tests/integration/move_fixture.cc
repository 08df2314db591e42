#include "tests/integration/move_fixture.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <utility>

namespace ringway::test {

namespace {
constexpr int kQuietKeys = 600;
}  // namespace

seconds MoveSeconds(int64_t usual) { return seconds(EnvironmentInteger("RINGWAY_MOVE_SECONDS", usual)); }

void MoveTest::Start(MoveClusterOptions options, bool survey) {
  StartWithChecker(std::move(options), {}, survey);
}

void MoveTest::StartWithChecker(MoveClusterOptions options, MoveCheckerOptions checker, bool survey) {
  TestSeed();
  cluster_ = std::make_unique<MoveCluster>(std::move(options));
  checker.address = cluster_->address();
  checker_ = std::make_unique<MoveChecker>(std::move(checker));
  checker_->Start();
  if (survey) survey_ = std::make_unique<MoveSurvey>(checker_.get(), kQuietKeys);
}

void MoveTest::TearDown() {
  if (survey_) survey_->Stop();
  if (checker_) {
    checker_->Stop();
    std::cout << moves_ << " moves, " << checker_->judged() << " answers judged, " << checker_->lost_answers()
              << " lost or refused, new keys " << checker_->NewKeys() << " times"
              << (survey_ ? ", " + std::to_string(survey_->rounds()) + " surveys" : "") << std::endl;
  }
  if (!HasFailure() || !cluster_) return;
  const std::string path = ::testing::TempDir() + "ringway-move-" +
                           ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".log";
  WriteFile(path, cluster_->Logs());
  std::cout << "the proxy's log: " << path << "\n" << cluster_->MigrationText() << std::endl;
}

bool MoveTest::Apply(const Command& changes) {
  Command words = {"APPLY"};
  words.insert(words.end(), changes.begin(), changes.end());
  const Reply reply = cluster_->Ring(words);
  if (reply.IsString()) {
    ++moves_;
    return true;
  }
  std::string text;
  for (const std::string& word : changes) text += " " + word;
  ADD_FAILURE() << "RING APPLY" << text << " answered " << ToText(reply) << " " << reply.text;
  return false;
}

void MoveTest::ExpectSettled(milliseconds timeout) {
  const bool settled = cluster_->WaitSettled(timeout);
  ASSERT_NO_FATAL_FAILURE(ExpectNoFault());
  ASSERT_TRUE(settled) << cluster_->MigrationText();
  checker_->Pause();
  ExpectInPlace();
  checker_->Resume();
  ASSERT_FALSE(HasFailure()) << cluster_->MigrationText();
}

void MoveTest::ExpectInPlace() {
  EXPECT_THAT(cluster_->Misplaced(), IsEmpty());
  for (const size_t spare : Spares()) {
    if (cluster_->server(spare).running()) {
      EXPECT_EQ(cluster_->KeysOn(spare), 0) << cluster_->Name(spare) << " is no shard any more";
    }
  }
  const std::string text = cluster_->MigrationText();
  EXPECT_EQ(InfoField(text, "migration_state"), "idle");
  EXPECT_EQ(cluster_->MigrationNumber("progress"), 1) << text;
  EXPECT_EQ(cluster_->MigrationNumber("keys_remaining"), 0) << text;
  EXPECT_EQ(cluster_->MigrationNumber("keys_moved"), cluster_->MigrationNumber("keys_moved_on_access") +
                                                         cluster_->MigrationNumber("keys_moved_background"))
      << text;
}

void MoveTest::ExpectNoFault() {
  for (const std::string& complaint : checker_->Complaints()) ADD_FAILURE() << complaint;
  if (survey_) {
    for (const std::string& complaint : survey_->Complaints()) ADD_FAILURE() << complaint;
  }
  ASSERT_FALSE(HasFailure()) << "RINGWAY_SEED=" << TestSeed();
}

void MoveTest::ExcuseKeysOf(const std::string& shard) {
  checker_->Pause();
  std::vector<std::string> names;
  for (const PlacedKey& key : checker_->Keys()) names.push_back(key.key);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::vector<std::vector<std::string>> places = cluster_->PlacesOf(names);
  checker_->Excuse([&](const PlacedKey& key) {
    const auto at =
        static_cast<size_t>(std::lower_bound(names.begin(), names.end(), key.key) - names.begin());
    return std::find(places[at].begin(), places[at].end(), shard) != places[at].end();
  });
  checker_->Resume();
}

void MoveTest::EndExcuses() {
  checker_->Pause();
  checker_->EndExcuses();
  checker_->Resume();
}

std::vector<size_t> MoveTest::Spares() {
  std::set<size_t> used;
  for (const auto& [name, index] : cluster_->Members()) used.insert(index);
  std::vector<size_t> spares;
  for (size_t i = 0; i < cluster_->size(); ++i) {
    if (!used.contains(i)) spares.push_back(i);
  }
  return spares;
}

Command MoveTest::RandomChanges(size_t count) {
  static constexpr const char* kWeights[] = {"0.5", "1", "2", "3"};
  std::map<std::string, size_t> members = cluster_->Members();
  std::vector<size_t> spares = Spares();
  size_t size = members.size();
  Command words;
  for (size_t i = 0; i < count && !members.empty(); ++i) {
    auto victim = members.begin();
    std::advance(victim, static_cast<int64_t>(random_() % members.size()));
    const std::string address = spares.empty() ? "" : cluster_->server(spares.back()).address();
    switch (random_() % 4) {
      case 0:
        if (address.empty()) continue;
        words.insert(words.end(), {"ADD", "n" + std::to_string(++made_names_), address});
        spares.pop_back();
        ++size;
        continue;
      case 1:
        if (size < 3) continue;
        words.insert(words.end(), {"REMOVE", victim->first});
        --size;
        break;
      case 2:
        words.insert(words.end(), {"WEIGHT", victim->first, kWeights[random_() % 4]});
        break;
      default:
        if (address.empty()) continue;
        words.insert(words.end(), {"REPLACE", victim->first, address});
        spares.pop_back();
    }
    members.erase(victim);
  }
  return words;
}

}  // namespace ringway::test
