#include "tests/integration/move_survey.h"

#include <algorithm>

namespace ringway::test {

namespace {
constexpr size_t kMaxComplaints = 10;

// A few of the keys in `wanted` that `got` lacks.
template <typename Wanted, typename Got>
std::string Missing(const Wanted& wanted, const Got& got) {
  std::string text;
  int count = 0;
  for (const std::string& key : wanted) {
    if (got.contains(key)) continue;
    if (++count <= 5) text += " " + key;
  }
  return count == 0 ? "" : std::to_string(count) + " keys, such as" + text;
}
}  // namespace

MoveSurvey::MoveSurvey(MoveChecker* checker, int quiet_keys) : checker_(checker) {
  Select(MoveChecker::kQuietDatabase);
  std::vector<Command> commands;
  for (int i = 0; i < quiet_keys; ++i) {
    quiet_.insert("quiet:" + std::to_string(i));
    commands.push_back({"SET", "quiet:" + std::to_string(i), "x"});
  }
  connection_.Pipeline(commands);
  thread_ = std::thread([this] { Run(); });
}

void MoveSurvey::Stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

bool MoveSurvey::Select(int database) {
  if (!connection_.socket().open() && !connection_.socket().Connect(checker_->options().address))
    return false;
  return Judgeable("SELECT", connection_.Do({"SELECT", std::to_string(database)}));
}

void MoveSurvey::Run() {
  int database = 0;
  while (!stop_) {
    if (Select(MoveChecker::kQuietDatabase)) LookAtQuiet();
    database = (database + 1) % MoveChecker::kSharedDatabases;
    if (Select(database)) LookAtBallast(database);
    ++rounds_;
    // Commands for all shards are dear; the clients shall not wait for a survey most of the time.
    Consistently([this] { return !stop_; }, milliseconds(20));
  }
}

void MoveSurvey::LookAtQuiet() {
  const Reply size = connection_.Do({"DBSIZE"});
  if (Judgeable("DBSIZE", size) && size.integer != static_cast<int64_t>(quiet_.size())) {
    Complain("DBSIZE answered " + ToText(size) + " instead of " + std::to_string(quiet_.size()));
  }
  const Reply all = connection_.Do({"KEYS", "*"});
  if (Judgeable("KEYS", all)) {
    const std::vector<std::string> texts = all.Texts();
    const std::set<std::string> keys(texts.begin(), texts.end());
    if (texts.size() != quiet_.size() || keys != quiet_) {
      Complain("KEYS gave " + std::to_string(texts.size()) + " keys instead of " +
               std::to_string(quiet_.size()) + "; missing: " + Missing(quiet_, keys));
    }
  }
  std::multiset<std::string> scanned;
  if (Scan(&scanned)) {
    const std::string missing = Missing(quiet_, scanned);
    if (!missing.empty()) Complain("SCAN of the quiet database missed " + missing);
    for (const std::string& key : scanned) {
      if (!quiet_.contains(key)) return Complain("SCAN of the quiet database gave " + key);
    }
  }
  const Reply any = connection_.Do({"RANDOMKEY"});
  if (Judgeable("RANDOMKEY", any) && !quiet_.contains(any.text)) {
    Complain("RANDOMKEY of the quiet database gave " + ToText(any));
  }
}

void MoveSurvey::LookAtBallast(int database) {
  std::multiset<std::string> scanned;
  if (!Scan(&scanned)) return;
  std::vector<std::string> ballast;
  for (int i = 0; i < checker_->options().ballast_per_database; ++i) {
    ballast.push_back(MoveChecker::BallastKey(i));
  }
  const std::string missing = Missing(ballast, scanned);
  if (!missing.empty()) Complain("SCAN of database " + std::to_string(database) + " missed " + missing);
}

bool MoveSurvey::Scan(std::multiset<std::string>* keys) {
  std::string cursor = "0";
  do {
    const Reply reply = connection_.Do({"SCAN", cursor, "COUNT", "100"});
    if (!Judgeable("SCAN", reply)) return false;
    if (reply.elements.size() != 2) {
      Complain("SCAN answered " + ToText(reply));
      return false;
    }
    cursor = reply.elements[0].text;
    for (const std::string& key : reply.elements[1].Texts()) keys->insert(key);
  } while (cursor != "0" && !stop_);
  return cursor == "0";
}

bool MoveSurvey::Judgeable(const std::string& what, const Reply& reply) {
  if (reply.type == 0) connection_.socket().Close();
  switch (FateOf(reply, checker_->excuses())) {
    case MoveFate::kUnknown:
    case MoveFate::kRefused:
      return false;
    case MoveFate::kWrong:
      break;
    case MoveFate::kDone:
      if (!reply.IsError()) return true;
  }
  Complain(what + " answered " + ToText(reply) + " " + reply.text);
  return false;
}

void MoveSurvey::Complain(const std::string& wrong) {
  const std::lock_guard lock(mutex_);
  if (complaints_.size() < kMaxComplaints) complaints_.push_back(wrong);
}

std::vector<std::string> MoveSurvey::Complaints() const {
  const std::lock_guard lock(mutex_);
  return complaints_;
}

}  // namespace ringway::test
