#include "tests/integration/hot_fixture.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <utility>

namespace ringway::test {

namespace {
const char* const kFigures[] = {"hotkey_bucket_reads", "hotkey_fills", "hotkey_invalidations"};
constexpr int kConnections = 24;
}  // namespace

seconds HotSeconds(int64_t usual) { return seconds(EnvironmentInteger("RINGWAY_HOT_SECONDS", usual)); }

void HotKeyTest::StartCluster(const std::string& config, const std::vector<std::string>& environment) {
  TestSeed();
  MoveClusterOptions options;
  options.shards = 4;
  options.spares = 1;
  options.threads = 3;
  options.config = config;
  options.environment = environment;
  cluster_ = std::make_unique<MoveCluster>(std::move(options));
}

void HotKeyTest::StartChecker(HotCheckerOptions options, size_t keyless) {
  options.address = cluster_->address();
  if (keyless != kNobody) {
    options.accepts = [this, keyless](const HotNames& names) {
      const auto places = cluster_->PlacesOf(names.All());
      return std::all_of(places.begin(), places.end(),
                         [&](const auto& place) { return place[0] != cluster_->Name(keyless); });
    };
  }
  ASSERT_GE(options.threads * options.clients_per_thread, kConnections);
  checker_ = std::make_unique<HotChecker>(std::move(options));
  checker_->Start();
}

void HotKeyTest::TearDown() {
  if (checker_) {
    checker_->Stop();
    std::cout << checker_->reads() << " reads and " << checker_->writes() << " writes judged, "
              << checker_->lost_answers() << " lost or refused";
    for (const char* field : kFigures) std::cout << ", " << field << " " << Figure(field);
    std::cout << std::endl;
  }
  if (!HasFailure() || !cluster_) return;
  const std::string path = ::testing::TempDir() + "ringway-hot-" +
                           ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".log";
  WriteFile(path, cluster_->Logs());
  std::cout << "the proxy's log: " << path << "\n" << cluster_->Do({"INFO", "hotkeys"}).text << std::endl;
}

int64_t HotKeyTest::Figure(const std::string& field) {
  const std::string text = InfoField(cluster_->Do({"INFO", "hotkeys"}).text, field);
  return text.empty() ? -1 : std::atoll(text.c_str());
}

void HotKeyTest::ExpectSpread(int64_t least) {
  for (const char* field : kFigures) {
    const int64_t before = Figure(field);
    EXPECT_TRUE(Eventually([&] { return Figure(field) > before + least || !checker_->Complaints().empty(); }))
        << field << " was " << before << ", is " << Figure(field);
  }
  ExpectNoFault();
}

void HotKeyTest::ExpectNotSpread() {
  EXPECT_TRUE(Eventually([this] { return Figure("hotkeys_spread") == 0; })) << Figure("hotkeys_spread");
  // Requests of before may be under way.
  EXPECT_TRUE(Eventually([this] {
    const int64_t reads = Figure("hotkey_bucket_reads");
    return Consistently([&] { return Figure("hotkey_bucket_reads") == reads; }, milliseconds(200));
  }));
  ExpectNoFault();
}

void HotKeyTest::Watch(milliseconds time) {
  Consistently([this] { return checker_->Complaints().empty(); }, time);
  ExpectNoFault();
}

void HotKeyTest::ExpectNoFault() {
  for (const std::string& complaint : checker_->Complaints()) ADD_FAILURE() << complaint;
  ASSERT_FALSE(HasFailure()) << "RINGWAY_SEED=" << TestSeed();
}

bool HotKeyTest::Set(const std::string& option, const std::string& value) {
  const Reply reply = cluster_->Do({"CONFIG", "SET", option, value});
  EXPECT_TRUE(reply.IsOk()) << option << " " << value << ": " << ToText(reply);
  return reply.IsOk();
}

size_t HotKeyTest::OwnerOf(const std::string& key) {
  return cluster_->Members().at(cluster_->PlacesOf({key})[0][0]);
}

void HotKeyTest::ExcuseKeysOf(size_t shard) {
  checker_->Excuse([&](const HotNames& names) {
    const auto places = cluster_->PlacesOf(names.All());
    return std::any_of(places.begin(), places.end(),
                       [&](const auto& place) { return place[0] == cluster_->Name(shard); });
  });
}

void HotKeyTest::EndExcuses() {
  // What was read of a copy before is not read of it any more.
  Consistently([] { return true; }, milliseconds(2 * kStalenessMs));
  checker_->EndExcuses();
}

void HotKeyTest::Allow(bool lost_answers) {
  checker_->excuses().lost_answers = lost_answers;
  checker_->excuses().refusals = lost_answers;
}

}  // namespace ringway::test
