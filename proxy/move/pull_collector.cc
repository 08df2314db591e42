#include "proxy/move/pull_collector.h"

#include <utility>

#include "protocol/command_writer.h"
#include "protocol/reply_cursor.h"
#include "proxy/buffer/output_queue.h"
#include "proxy/client/client_session.h"
#include "proxy/route/request_table.h"

namespace ringway::proxy {
namespace {

// MULTI, EXISTS, the command, EXEC.
constexpr size_t kReadAtSourceReplies = 4;

}  // namespace

PullCollector::PullCollector(ShardPool& pool, RequestTable& requests, CommandContinuation& continuation,
                             WaitingCommand command)
    : pool_(pool), requests_(requests), continuation_(continuation), command_(std::move(command)) {}

void PullCollector::OnKeyPulled(Request& request, const PullOutcome& outcome) {
  if (outcome.kind > outcome_.kind) outcome_ = outcome;
  if (--missing_ == 0) requests_.EndPart(&request);
}

void PullCollector::OnPart(Request& request, uint32_t, const Slice& reply) {
  TakeSourceReply(request, reply);
}

bool PullCollector::OnAllParts(Request& request) {
  if (at_source_) return true;
  if (request.client != nullptr) request.client->EndPull(command_.several);
  switch (outcome_.kind) {
    case PullOutcome::Kind::kPulled: {
      // This object lives until the command has been sent, and not longer.
      const CollectorPtr self = std::move(request.collector);
      continuation_.Continue(request, command_);
      return false;
    }
    case PullOutcome::Kind::kTargetTrouble:
      if (CanReadAtSource() && ReadAtSource(request)) return false;
      break;
    case PullOutcome::Kind::kSourceTrouble:
      break;
  }
  Fail(request, outcome_.error);
  return true;
}

bool PullCollector::CanReadAtSource() const {
  const protocol::CommandRow& row = *command_.row;
  // The keys that SORT's patterns mean may have left the source already.
  if (command_.keys.empty() || command_.patterns) return false;
  if ((row.flags & protocol::kReadonly) == 0 || row.request != protocol::RequestPolicy::kOneShard)
    return false;
  const Topology& topology = *command_.topology;
  const protocol::RequestView view = command_.view();
  const uint64_t first = topology.ring.Hash(view[command_.keys.front()]);
  for (const uint32_t index : command_.keys) {
    const uint64_t hash = topology.ring.Hash(view[index]);
    if (!topology.move->Moves(hash) || topology.Source(hash).id != topology.Source(first).id) return false;
  }
  return true;
}

// As a transaction: between the count of the keys and the command none of them may leave.
bool PullCollector::ReadAtSource(Request& request) {
  const Topology& topology = *command_.topology;
  const protocol::RequestView view = command_.view();
  const Shard& source = topology.Source(topology.ring.Hash(view[command_.keys.front()]));
  ShardConnection* connection = pool_.FirstById(source.id, command_.db, request.resp);
  if (connection == nullptr || connection->admission() == ShardConnection::Admission::kDown) return false;
  std::string frames;
  protocol::AppendCommand(frames, {"MULTI"});
  protocol::AppendHeader(frames, 1 + command_.keys.size());
  protocol::AppendArg(frames, "EXISTS");
  for (const uint32_t index : command_.keys) protocol::AppendArg(frames, view[index]);
  frames.append(view.frame());
  protocol::AppendCommand(frames, {"EXEC"});
  at_source_ = true;
  ++request.parts_pending;
  connection->SendBatch(&request, frames, kReadAtSourceReplies);
  return true;
}

void PullCollector::TakeSourceReply(Request& request, const Slice& exec_reply) {
  protocol::ReplyCursor cursor(exec_reply.view());
  std::string_view count;
  std::string_view reply;
  if (cursor.length() != 2 || !cursor.Next(&count) || !cursor.Next(&reply)) {
    Fail(request, protocol::IsError(exec_reply.view()) ? std::string(protocol::ErrorText(exec_reply.view()))
                                                       : outcome_.error);
    return;
  }
  // A key that is not there may be at the target already.
  if (protocol::IntegerOf(count) != static_cast<int64_t>(command_.keys.size())) {
    Fail(request, outcome_.error);
    return;
  }
  request.failed = protocol::IsError(reply);
  if (request.failed) requests_.stats().NoteError(reply);
  reply_ = Slice{exec_reply.block, reply.data(), reply.size()};
}

void PullCollector::Fail(Request& request, const std::string& error) {
  request.failed = true;
  requests_.stats().NoteError(error);
  reply_ = requests_.Copy("-" + error + "\r\n");
}

void PullCollector::Finish(Request&, OutputQueue& out) { out.Append(reply_); }

}  // namespace ringway::proxy
