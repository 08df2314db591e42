#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocol/command_table.h"
#include "protocol/learned_commands.h"
#include "protocol/request_view.h"
#include "proxy/move/puller.h"
#include "proxy/route/request.h"
#include "proxy/topology.h"

namespace ringway::proxy {

// A command that waits for its keys, with all that is needed to send it when they are there: by then its
// client may have gone, the bytes it came in may have been used again, and the ring may be another.
struct WaitingCommand {
  const protocol::CommandRow* row;
  std::shared_ptr<const protocol::LearnedCommands> learned;  // may own the row
  Slice frame;
  std::vector<protocol::Arg> args;
  uint32_t db;
  std::shared_ptr<const Topology> topology;  // that its keys were looked up in
  std::shared_ptr<const void> epoch_token;   // of Router
  // Arguments that are keys, and the shard of `topology` that all of them belong to, of a command that is not
  // split.
  std::vector<uint32_t> keys;
  uint32_t shard = 0;
  bool several = true;    // may have more keys than one, in one database
  bool patterns = false;  // SORT: reads keys that its patterns mean, which have not been pulled
  // Of EXEC: what is sent in its place, and how many replies that gives, of which the last one counts.
  std::string batch;
  size_t batch_replies = 0;

  protocol::RequestView view() const { return {frame.view(), args}; }
};

// Sends a command whose keys have been pulled.
class CommandContinuation {
 public:
  // `request` has no collector and is held by one part.
  virtual void Continue(Request& request, const WaitingCommand& command) = 0;

 protected:
  ~CommandContinuation() = default;
};

// Waits until the keys of a command are at their new owner, then lets it go on there. When the target does
// not take a key, a command that only reads is answered by the source, if that has all of its keys; others
// get the error. Thread: one worker. Owns: the command.
class PullCollector final : public ReplyCollector, public PullWaiter {
 public:
  PullCollector(ShardPool& pool, RequestTable& requests, CommandContinuation& continuation,
                WaitingCommand command);

  // Before the keys are asked for: how many there are. The request is held by one part meanwhile.
  void Expect(size_t keys) { missing_ = keys; }

  void OnKeyPulled(Request& request, const PullOutcome& outcome) override;
  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  bool OnAllParts(Request& request) override;
  void Finish(Request& request, OutputQueue& out) override;

 private:
  bool CanReadAtSource() const;
  bool ReadAtSource(Request& request);
  void TakeSourceReply(Request& request, const Slice& exec_reply);
  void Fail(Request& request, const std::string& error);

  ShardPool& pool_;
  RequestTable& requests_;
  CommandContinuation& continuation_;
  WaitingCommand command_;
  size_t missing_ = 0;
  PullOutcome outcome_;     // the worst of all keys
  bool at_source_ = false;  // reads there
  Slice reply_;
};

}  // namespace ringway::proxy
