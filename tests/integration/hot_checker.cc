#include "tests/integration/hot_checker.h"

#include <utility>

#include "tests/integration/hot_client.h"

namespace ringway::test {

namespace {
constexpr size_t kMaxComplaints = 20;
constexpr int kNamesToTry = 1000;
// Of eight clients in turn.
constexpr int kDatabases[] = {HotChecker::kFirstDatabase,  HotChecker::kFirstDatabase,
                              HotChecker::kSecondDatabase, HotChecker::kFirstDatabase,
                              HotChecker::kFirstDatabase,  HotChecker::kFlushedDatabase,
                              HotChecker::kFirstDatabase,  HotChecker::kSecondDatabase};
}  // namespace

HotChecker::HotChecker(HotCheckerOptions options) : options_(std::move(options)) {
  AddSubjects(kFirstDatabase);
  AddSubjects(kSecondDatabase);
  subjects_.push_back(
      std::make_unique<HotRegister>(HotKind::kFlushed, MakeNames("flushed"), kFlushedDatabase, &excuses_));
  for (int id = 0; id < options_.threads * options_.clients_per_thread; ++id) {
    clients_.push_back(std::make_unique<HotClient>(id, kDatabases[id % std::ssize(kDatabases)], this));
  }
}

HotChecker::~HotChecker() { Stop(); }

void HotChecker::AddSubjects(int database) {
  for (int i = 0; i < kSharedHotKinds; ++i) {
    subjects_.push_back(std::make_unique<HotRegister>(static_cast<HotKind>(i), MakeNames(std::to_string(i)),
                                                      database, &excuses_));
  }
  for (int i = 0; i < options_.counters; ++i) {
    subjects_.push_back(
        std::make_unique<HotCounter>(MakeNames("count" + std::to_string(i)), database, &excuses_));
  }
}

HotNames HotChecker::MakeNames(const std::string& stem) const {
  for (int i = 0; i < kNamesToTry; ++i) {
    HotNames names(stem + "." + std::to_string(i));
    if (options_.accepts(names)) return names;
  }
  throw SetUpFailure("no name that begins with " + stem + " is accepted");
}

void HotChecker::Start() {
  for (const int database : {kFirstDatabase, kSecondDatabase}) {
    std::vector<Command> commands = {{"SELECT", std::to_string(database)}};
    for (const HotNames& names : Names()) {
      for (const std::string& cold : names.cold) commands.push_back({"SET", cold, cold});
    }
    for (const Reply& reply : RespClient(options_.address).Pipeline(commands)) {
      if (!reply.IsOk()) throw SetUpFailure("cold keys: " + ToText(reply));
    }
  }
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this, i] { RunThread(i); });
}

void HotChecker::RunThread(int thread) {
  while (!stop_) {
    for (size_t i = static_cast<size_t>(thread); i < clients_.size();
         i += static_cast<size_t>(options_.threads)) {
      clients_[i]->SendRound();
    }
    for (size_t i = static_cast<size_t>(thread); i < clients_.size();
         i += static_cast<size_t>(options_.threads)) {
      clients_[i]->Collect();
    }
  }
}

void HotChecker::Stop() {
  stop_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void HotChecker::Excuse(const std::function<bool(const HotNames&)>& may_be_lost) {
  for (const auto& subject : subjects_) {
    if (may_be_lost(subject->names())) subject->Excuse();
  }
}

void HotChecker::EndExcuses() {
  for (const auto& subject : subjects_) subject->EndExcuse();
}

std::vector<HotNames> HotChecker::Names() const {
  std::vector<HotNames> names;
  for (const auto& subject : subjects_) {
    if (subject->database() == kFirstDatabase) names.push_back(subject->names());
  }
  return names;
}

std::vector<std::string> HotChecker::Complaints() const {
  const std::lock_guard lock(mutex_);
  return complaints_;
}

void HotChecker::Complain(const std::string& wrong) {
  const std::lock_guard lock(mutex_);
  if (complaints_.size() < kMaxComplaints) complaints_.push_back(wrong);
}

}  // namespace ringway::test
