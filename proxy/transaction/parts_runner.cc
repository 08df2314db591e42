#include "proxy/transaction/parts_runner.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "protocol/command_writer.h"
#include "protocol/reply_cursor.h"
#include "proxy/buffer/output_queue.h"
#include "proxy/route/request_table.h"

namespace ringway::proxy {
namespace {

constexpr std::string_view kClosed = "-ERR the transaction was cut off\r\n";

}  // namespace

PartsRunner::PartsRunner(ClientSession& outer, Request& request, Transaction& transaction)
    : outer_(&outer), request_(&request), results_(transaction.commands().size()) {
  PlanSteps(transaction);
  inner_ = std::unique_ptr<ClientSession>(new ClientSession(outer.environment(), *this));
  inner_->state() = outer.state();
  inner_->state().modes = 0;
  inner_->state().reply_mode = SessionState::ReplyMode::kOn;
  if (transaction.watching()) inner_->transaction().TakeWatchOf(transaction);
  outer.set_inner(inner_.get());
}

PartsRunner::~PartsRunner() {
  if (outer_ != nullptr) outer_->set_inner(nullptr);
  if (inner_ != nullptr) inner_->environment().dirty_clients.Remove(this);
}

void PartsRunner::PlanSteps(const Transaction& transaction) {
  const std::vector<Transaction::Command>& commands = transaction.commands();
  for (size_t i = 0; i < commands.size(); ++i) {
    const bool batch = !commands[i].apart;
    if (!batch || steps_.empty() || !steps_.back().batch) steps_.push_back({batch, "", {}});
    steps_.back().frames += commands[i].frame;
    steps_.back().places.push_back(i);
  }
  if (!transaction.watching()) return;
  const auto is_batch = [](const Step& step) { return step.batch; };
  auto first = std::find_if(steps_.begin(), steps_.end(), is_batch);
  if (first == steps_.end()) {
    steps_.insert(steps_.begin(), {true, "", {}});
  } else {
    std::rotate(steps_.begin(), first, std::next(first));
  }
}

void PartsRunner::Start() { SendNext(); }

void PartsRunner::SendNext() {
  const Step& step = steps_[step_];
  replies_left_ = step.batch ? step.places.size() + 2 : 1;
  if (step.batch) protocol::AppendCommand(input_, {"MULTI"});
  input_ += step.frames;
  if (step.batch) protocol::AppendCommand(input_, {"EXEC"});
  Feed();
}

void PartsRunner::Feed() {
  while (!input_.empty() && inner_->WantsInput()) {
    const ClientSession::ReadBuffer buffer = inner_->PrepareRead();
    const size_t count = std::min(buffer.size, input_.size());
    std::memcpy(buffer.data, input_.data(), count);
    input_.erase(0, count);
    inner_->OnBytesRead(count);
  }
}

void PartsRunner::Resume() {
  inner_->Resume();
  Feed();
}

void PartsRunner::Flush() {
  if (ended_) return;
  OutputQueue& output = inner_->output();
  std::array<iovec, 8> vectors;
  while (!output.empty()) {
    const size_t count = output.Peek(vectors);
    size_t bytes = 0;
    for (size_t i = 0; i < count; ++i) {
      received_.append(static_cast<const char*>(vectors[i].iov_base), vectors[i].iov_len);
      bytes += vectors[i].iov_len;
    }
    output.Consume(bytes);
  }
  inner_->OnOutputTaken();
  if (TakeReplies()) {
    Feed();
  } else {
    End();
  }
}

// A session that would close says so at most once; what it has not answered never will be.
void PartsRunner::CloseSoon() {
  if (whole_.empty()) whole_ = kClosed;
  step_ = steps_.size();
  inner_->environment().dirty_clients.Add(this);
}

bool PartsRunner::TakeReplies() {
  while (step_ < steps_.size() && scanned_ < received_.size()) {
    const auto [status, consumed] = scanner_.Scan(std::string_view(received_).substr(scanned_));
    scanned_ += consumed;
    if (status != protocol::ParseStatus::kComplete) break;
    const std::string reply = received_.substr(0, scanned_);
    received_.erase(0, scanned_);
    scanned_ = 0;
    if (scanner_.is_push()) {
      outer_->Push(outer_->environment().requests.Copy(reply));
    } else {
      TakeReply(reply);
    }
  }
  return step_ < steps_.size();
}

void PartsRunner::TakeReply(std::string_view reply) {
  const Step& step = steps_[step_];
  --replies_left_;
  if (step.batch && replies_left_ > 0) return;  // +OK, +QUEUED
  if (!step.batch) {
    results_[step.places.front()] = reply;
  } else if (step_ == 0 && (protocol::IsNull(reply) || (protocol::IsError(reply) && steps_.size() == 1))) {
    whole_ = reply;
    step_ = steps_.size();
    return;
  } else {
    TakeBatchReply(reply);
  }
  if (++step_ < steps_.size()) SendNext();
}

void PartsRunner::TakeBatchReply(std::string_view reply) {
  const Step& step = steps_[step_];
  protocol::ReplyCursor cursor(reply);
  std::string_view element;
  for (const size_t place : step.places) {
    const bool told = !protocol::IsError(reply) && cursor.Next(&element);
    results_[place] = told ? element : reply;
  }
}

void PartsRunner::End() {
  if (std::exchange(ended_, true)) return;
  // What the commands have agreed on: another database, name, protocol version.
  const uint8_t modes = outer_->state().modes;
  const auto reply_mode = outer_->state().reply_mode;
  outer_->state() = inner_->state();
  outer_->state().modes = modes;
  outer_->state().reply_mode = reply_mode;
  // Ends this object.
  outer_->environment().requests.EndPart(request_);
}

void PartsRunner::Finish(Request& request, OutputQueue& out) {
  if (!whole_.empty()) {
    request.failed = protocol::IsError(whole_);
    out.Append(std::string_view(whole_));
    return;
  }
  std::string head;
  protocol::AppendHeader(head, results_.size());
  out.Append(std::string_view(head));
  for (const std::string& result : results_) out.Append(std::string_view(result));
}

// Steps that have not been sent never will be.
void PartsRunner::OnAbandoned() {
  outer_ = nullptr;
  ended_ = true;
  inner_->environment().dirty_clients.Remove(this);
  inner_.reset();
  request_->parts_pending = 0;
}

}  // namespace ringway::proxy
