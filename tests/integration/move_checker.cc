#include "tests/integration/move_checker.h"

#include <iostream>
#include <utility>

#include "tests/integration/move_client.h"

namespace ringway::test {

namespace {
constexpr size_t kMaxComplaints = 20;

int ServedKinds(const std::string& address) {
  const Reply reply = RespClient(address).Do({"MULTI"});
  if (reply.type == 0) throw SetUpFailure("no answer to MULTI: " + reply.text);
  return kSharedMoveKinds - (reply.IsOk() ? 0 : 1);
}

}  // namespace

MoveChecker::MoveChecker(MoveCheckerOptions options)
    : options_(std::move(options)), kinds_(ServedKinds(options_.address)) {
  const auto ballast = static_cast<size_t>(options_.ballast_per_database);
  ballast_excused_.assign(kSharedDatabases, std::vector<bool>(ballast, false));
  for (int database = 0; database < kSharedDatabases; ++database) {
    registers_.emplace_back(static_cast<size_t>(options_.registers_per_database));
    for (int i = 0; i < options_.registers_per_database; ++i) RenewRegister(database, i);
  }
  const int shared = options_.threads * options_.clients_per_thread;
  for (int id = 0; id < shared; ++id) {
    clients_.push_back(std::make_unique<MoveClient>(id, id % kSharedDatabases, this));
  }
  clients_.push_back(std::make_unique<MoveClient>(shared, kFlushedDatabase, this));
}

MoveChecker::~MoveChecker() { Stop(); }

void MoveChecker::Start() {
  for (int database = 0; database < kSharedDatabases; ++database) {
    RespClient client(options_.address);
    std::vector<Command> commands = {{"SELECT", std::to_string(database)}};
    for (int i = 0; i < options_.ballast_per_database; ++i) {
      commands.push_back({"SET", BallastKey(i), BallastKey(i)});
    }
    for (const Reply& reply : client.Pipeline(commands)) {
      if (!reply.IsOk()) throw SetUpFailure("ballast: " + ToText(reply));
    }
  }
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this, i] { RunThread(i); });
}

void MoveChecker::RunThread(int thread) {
  std::vector<MoveClient*> mine;
  for (size_t i = static_cast<size_t>(thread); i < clients_.size();
       i += static_cast<size_t>(options_.threads)) {
    mine.push_back(clients_[i].get());
  }
  while (WaitWhilePaused()) {
    for (MoveClient* client : mine) client->SendRound();
    for (MoveClient* client : mine) client->Collect();
  }
}

bool MoveChecker::WaitWhilePaused() {
  std::unique_lock lock(mutex_);
  ++waiting_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !paused_ || stop_; });
  --waiting_;
  return !stop_;
}

void MoveChecker::Pause() {
  std::unique_lock lock(mutex_);
  paused_ = true;
  changed_.wait(lock, [this] { return waiting_ == static_cast<int>(threads_.size()); });
}

void MoveChecker::Resume() {
  const std::lock_guard lock(mutex_);
  paused_ = false;
  changed_.notify_all();
}

void MoveChecker::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void MoveChecker::Excuse(const std::function<bool(const PlacedKey&)>& may_be_lost) {
  excuses_.new_keys = true;
  for (const auto& client : clients_) {
    for (MoveUnit& unit : client->units()) {
      for (const std::string& key : unit.Keys()) {
        if (may_be_lost({client->database(), key})) unit.Excuse();
      }
    }
  }
  for (int database = 0; database < kSharedDatabases; ++database) {
    for (int i = 0; i < options_.registers_per_database; ++i) {
      const auto shared = RegisterAt(database, i);
      if (may_be_lost({database, shared->key()})) shared->Excuse();
    }
    for (int i = 0; i < options_.ballast_per_database; ++i) {
      if (may_be_lost({database, BallastKey(i)})) {
        ballast_excused_[static_cast<size_t>(database)][static_cast<size_t>(i)] = true;
      }
    }
  }
}

void MoveChecker::EndExcuses() {
  excuses_.new_keys = false;
  for (const auto& client : clients_) {
    for (MoveUnit& unit : client->units()) unit.EndExcuse();
  }
  for (int database = 0; database < kSharedDatabases; ++database) {
    for (int i = 0; i < options_.registers_per_database; ++i) {
      if (RegisterAt(database, i)->excused()) RenewRegister(database, i);
    }
  }
}

std::vector<PlacedKey> MoveChecker::Keys() const {
  std::vector<PlacedKey> keys;
  for (const auto& client : clients_) {
    for (const MoveUnit& unit : client->units()) {
      for (const std::string& key : unit.Keys()) keys.push_back({client->database(), key});
    }
  }
  for (int database = 0; database < kSharedDatabases; ++database) {
    for (int i = 0; i < options_.registers_per_database; ++i) {
      keys.push_back({database, RegisterAt(database, i)->key()});
    }
    for (int i = 0; i < options_.ballast_per_database; ++i) keys.push_back({database, BallastKey(i)});
  }
  return keys;
}

int64_t MoveChecker::NewKeys() const {
  int64_t count = 0;
  for (const auto& client : clients_) {
    for (const MoveUnit& unit : client->units()) count += unit.generation();
  }
  return count;
}

std::vector<std::string> MoveChecker::Complaints() const {
  const std::lock_guard lock(mutex_);
  return complaints_;
}

void MoveChecker::Complain(const std::string& wrong) {
  const std::lock_guard lock(mutex_);
  if (complaints_.size() < kMaxComplaints) complaints_.push_back(wrong);
}

std::shared_ptr<MoveRegister> MoveChecker::RegisterAt(int database, int index) const {
  const std::lock_guard lock(mutex_);
  return registers_[static_cast<size_t>(database)][static_cast<size_t>(index)];
}

void MoveChecker::RenewRegister(int database, int index) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<MoveRegister>& place =
      registers_[static_cast<size_t>(database)][static_cast<size_t>(index)];
  place = std::make_shared<MoveRegister>(
      "register" + std::to_string(index) + "g" + std::to_string(++register_generation_), &excuses_);
  if (excuses_.new_keys) place->Excuse();
}

}  // namespace ringway::test
