#include "proxy/transaction/transaction.h"

#include "protocol/command_writer.h"

namespace ringway::proxy {

void Transaction::Add(Command command) {
  bytes_ += command.frame.size();
  apart_ = apart_ || command.apart;
  commands_.push_back(std::move(command));
}

void Transaction::Close() {
  open_ = tainted_ = apart_ = writes_ = patterns_ = false;
  std::vector<Command>().swap(commands_);
  std::vector<Key>().swap(keys_);
  bytes_ = 0;
}

Transaction::Batch Transaction::MakeBatch() const {
  Batch batch{"", commands_.size() + 2};
  batch.frames.reserve(bytes_ + 64);
  protocol::AppendCommand(batch.frames, {"MULTI"});
  for (const Command& command : commands_) batch.frames += command.frame;
  protocol::AppendCommand(batch.frames, {"EXEC"});
  return batch;
}

void Transaction::Watch(OwnConnection connection, uint64_t generation) {
  watch_ = std::move(connection);
  watch_generation_ = generation;
}

void Transaction::TakeWatchOf(Transaction& other) {
  dirty_ = other.dirty_;
  watch_generation_ = other.watch_generation_;
  watch_ = other.TakeWatch();
  if (watch_) watch_->set_owner(this);
}

OwnConnection Transaction::TakeWatch() {
  dirty_ = false;
  return std::move(watch_);
}

void Transaction::Unwatch() {
  const bool lost = dirty_;
  OwnConnection connection = TakeWatch();
  if (!connection || lost) return;
  std::string frame;
  protocol::AppendCommand(frame, {"UNWATCH"});
  connection->Send(nullptr, 0, frame, nullptr);
  connection.GiveBack();
}

}  // namespace ringway::proxy
