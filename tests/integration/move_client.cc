#include "tests/integration/move_client.h"

#include <utility>

namespace ringway::test {

namespace {
constexpr size_t kUnitsInRound = 3;
constexpr size_t kReadsInRound = 3;
constexpr size_t kBallastInRound = 4;
// A proxy that is away is not asked again at once.
constexpr milliseconds kRetry{10};
}  // namespace

MoveClient::MoveClient(int id, int database, MoveChecker* checker)
    : id_(id), database_(database), checker_(checker), random_(TestRandom(static_cast<uint64_t>(id) + 1)()) {
  const int count = checker->options_.units_per_client;
  const bool flushes = database == MoveChecker::kFlushedDatabase;
  for (int i = 0; i < (flushes ? 1 : count); ++i) {
    const auto kind = static_cast<MoveKind>((id * count + i) % checker->kinds_);
    units_.emplace_back("c" + std::to_string(id) + "u" + std::to_string(i), flushes ? MoveKind::kFlush : kind,
                        random_(), &checker->excuses_);
  }
}

bool MoveClient::Connected() {
  if (connection_.socket().open()) return true;
  connection_ = RespClient(checker_->options_.address);
  const Reply selected =
      connection_.socket().open() ? connection_.Do({"SELECT", std::to_string(database_)}) : Reply();
  if (selected.IsOk()) return true;
  if (!checker_->excuses_.connections) checker_->Complain("cannot connect: " + ToText(selected));
  connection_.socket().Close();
  Eventually([] { return false; }, kRetry);
  return false;
}

void MoveClient::Add(std::string* bytes, const Command& command, Awaited awaited) {
  *bytes += EncodeCommand(command);
  awaited_.push_back(std::move(awaited));
}

void MoveClient::SendRound() {
  awaited_.clear();
  if (!Connected()) return;
  std::string bytes;
  AddRegisters(&bytes);
  AddUnits(&bytes);
  AddBallast(&bytes);
  connection_.socket().Send(bytes);
}

void MoveClient::AddUnits(std::string* bytes) {
  // Neighbours, so that none comes twice in a round.
  const size_t first = Pick(units_.size());
  for (size_t i = 0; i < std::min(kUnitsInRound, units_.size()); ++i) {
    const size_t index = (first + i) % units_.size();
    for (const Command& command : units_[index].NextPipeline()) Add(bytes, command, {Kind::kUnit, index, {}});
  }
}

void MoveClient::AddRegisters(std::string* bytes) {
  if (database_ == MoveChecker::kFlushedDatabase) return;
  const auto count = static_cast<size_t>(checker_->options_.registers_per_database);
  for (size_t i = 0; i < kReadsInRound; ++i) {
    const size_t index = Pick(count);
    auto shared = checker_->RegisterAt(database_, static_cast<int>(index));
    const int64_t known = shared->BeginRead();
    const std::string key = shared->key();
    Add(bytes, {"GET", key}, {Kind::kRead, index, std::move(shared), known});
  }
  // The database's clients share its registers out among them, and each writes its own.
  const auto mine = static_cast<size_t>(id_ / MoveChecker::kSharedDatabases);
  const auto writers = static_cast<size_t>(
      checker_->options_.threads * checker_->options_.clients_per_thread / MoveChecker::kSharedDatabases);
  const size_t index = mine + writers * Pick((count + writers - 1) / writers);
  if (index >= count) return;
  auto shared = checker_->RegisterAt(database_, static_cast<int>(index));
  const Command write = shared->NextWrite();
  Add(bytes, write, {Kind::kWrite, index, std::move(shared)});
}

void MoveClient::AddBallast(std::string* bytes) {
  const auto count = static_cast<size_t>(checker_->options_.ballast_per_database);
  if (database_ == MoveChecker::kFlushedDatabase || count == 0) return;
  for (size_t i = 0; i < kBallastInRound; ++i) {
    const size_t index = Pick(count);
    Add(bytes, {"GET", MoveChecker::BallastKey(static_cast<int>(index))}, {Kind::kBallast, index, {}});
  }
}

void MoveClient::Collect() {
  bool broken = false;
  for (const Awaited& awaited : awaited_) {
    const Reply reply = connection_.Read(broken ? milliseconds(0) : kPatience);
    broken = broken || reply.type == 0;
    const std::string wrong = Judge(awaited, reply);
    ++checker_->judged_;
    const bool refused = reply.IsError() && !reply.IsErrorStartingWith("ERR no such key");
    if (reply.type == 0 || refused) ++checker_->lost_answers_;
    if (!wrong.empty()) {
      checker_->Complain("client " + std::to_string(id_) + " database " + std::to_string(database_) + ": " +
                         wrong);
    }
  }
  if (broken) connection_.socket().Close();
}

std::string MoveClient::Judge(const Awaited& awaited, const Reply& reply) {
  switch (awaited.kind) {
    case Kind::kUnit:
      return units_[awaited.index].Judge(reply);
    case Kind::kRead:
      return awaited.shared->JudgeRead(awaited.known, reply);
    case Kind::kWrite: {
      bool spoilt = false;
      std::string wrong = awaited.shared->JudgeWrite(reply, &spoilt);
      if (spoilt) checker_->RenewRegister(database_, static_cast<int>(awaited.index));
      return wrong;
    }
    case Kind::kBallast:
      break;
  }
  const std::string key = MoveChecker::BallastKey(static_cast<int>(awaited.index));
  const MoveFate fate = FateOf(reply, checker_->excuses_);
  if (fate == MoveFate::kUnknown || fate == MoveFate::kRefused) return "";
  if (checker_->ballast_excused_[static_cast<size_t>(database_)][awaited.index]) return "";
  if (reply.type == '$' && reply.text == key) return "";
  return "GET " + key + " answered " + ToText(reply) + ", and nobody changes it";
}

}  // namespace ringway::test
