#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/command_table.h"
#include "protocol/learned_commands.h"
#include "protocol/request_view.h"
#include "proxy/hotkey/hot_key.h"
#include "proxy/move/puller.h"
#include "proxy/route/request.h"
#include "proxy/shard/own_connections.h"

namespace ringway::proxy {

class BlockedRequest;

// Where blocked requests are known.
class BlockedHome {
 public:
  // A client has gone, or waits too long where it is: its server is to end the command, which then answers
  // with an error, unless it has just been served. From a shared connection. `error`: else as after the
  // timeout.
  virtual void Wake(const OwnConnection& connection, bool error) = 0;
  // It was ended so that its keys can move. BeginAgain when they have.
  virtual void OnReleased(BlockedRequest& blocked) = 0;
  // Its keys are where they are to be waited for.
  virtual void BeginAgain(BlockedRequest& blocked) = 0;
  // It was answered, or its client has gone and nothing is left of it.
  virtual void OnEnded(BlockedRequest& blocked) = 0;
  // Executes a command that no client waits for.
  virtual void PutBack(uint32_t db, std::string frame) = 0;
  // A write that has begun ends, at once or when the server can carry it out no more.
  virtual void EndHotWrite(const std::shared_ptr<HotKey>& key, bool in_doubt) = 0;
  virtual RequestTable& table() = 0;

 protected:
  ~BlockedHome() = default;
};

// A command that waits at its server, on a connection of its client's own. Thread: one worker. Owns: the
// connection while it waits, the command.
class BlockedRequest final : public ReplyCollector, public PullWaiter {
 public:
  struct Command {
    const protocol::CommandRow* row;
    std::shared_ptr<const protocol::LearnedCommands> learned;  // may own the row
    std::string frame;
    std::vector<protocol::Arg> args;
    uint32_t db;
    int64_t until_usec;  // when it has waited long enough, of the loop's time; 0: never

    protocol::RequestView view() const { return {frame, args}; }
  };

  BlockedRequest(BlockedHome& home, Request& request, Command command)
      : home_(home), request_(request), command_(std::move(command)) {}

  // Sends the command (`frame`: as it is to be sent now) as one part more.
  void Begin(OwnConnection connection, std::string_view frame);
  // Its keys are about to move.
  void LeaveServer();
  // CLIENT UNBLOCK.
  void Unblock(bool error);
  // Some times a second: its server may not have known of it when it was to be woken.
  void WakeAgain();
  // It is to begin again when so many have been pulled.
  void ExpectKeys(size_t keys) { missing_ = keys; }
  // It cannot begin again. Held by one part.
  void Fail(std::string_view error);

  // From the moment it is sent it may write these at any time.
  void BeginHotWrite(const std::shared_ptr<HotKey>& key);

  const Command& command() const { return command_; }
  Request& request() { return request_; }
  const OwnConnection& connection() const { return connection_; }
  // Still waits at its server though it is to be released.
  bool leaving() const { return releasing_ && static_cast<bool>(connection_); }
  // Of XREAD's streams that were to be read from their end: where that was when it was released.
  const std::vector<std::string>& stream_ids() const { return stream_ids_; }

  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  bool OnAllParts(Request& request) override;
  void Finish(Request&, OutputQueue& out) override;
  void OnAbandoned() override;
  void OnKeyPulled(Request& request, const PullOutcome& outcome) override;

 private:
  enum Part : uint32_t { kCommand, kFirstStream };
  void Wake();
  // True: there is something to be asked before it can begin elsewhere.
  bool AskStreamEnds();
  void GiveConnectionBack();

  BlockedHome& home_;
  Request& request_;
  Command command_;
  OwnConnection connection_;
  Slice reply_;
  bool releasing_ = false;
  bool unsent_ = false;  // the connection was not there yet when it was released
  bool asked_ends_ = false;
  bool abandoned_ = false;
  bool wake_wanted_ = false;  // by leaving, its client's end or CLIENT UNBLOCK
  bool wake_as_error_ = true;
  bool unblocked_ = false;  // by CLIENT UNBLOCK
  bool woken_ = false;  // the connection may be woken once more at any time: nobody else is to have it
  size_t missing_ = 0;  // keys
  std::string problem_;
  std::vector<std::string> stream_ids_;
  std::vector<std::shared_ptr<HotKey>> written_;
};

}  // namespace ringway::proxy
