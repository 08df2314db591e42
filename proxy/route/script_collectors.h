#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/learned_commands.h"
#include "proxy/route/request.h"
#include "proxy/route/script_cache.h"
#include "proxy/route/shard_sender.h"
#include "proxy/topology.h"

namespace ringway::proxy {

// EVALSHA: when the shard does not know the script (it restarted, or joined later) and a client has shown it
// to the proxy before, loads it there and asks again; the client sees the last answer alone.
class EvalShaCollector final : public ReplyCollector {
 public:
  EvalShaCollector(ShardSender& sender, ScriptCache& scripts, uint32_t shard_id, uint32_t db,
                   std::string_view sha, std::string_view frame, std::shared_ptr<const void> epoch_token)
      : sender_(sender),
        scripts_(scripts),
        shard_id_(shard_id),
        db_(db),
        sha_(sha),
        frame_(frame),
        epoch_token_(std::move(epoch_token)) {}

  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  void Finish(Request& request, OutputQueue& out) override;

 private:
  enum Part : uint32_t { kFirstTry, kLoad, kSecondTry };

  ShardSender& sender_;
  ScriptCache& scripts_;
  uint32_t shard_id_;
  uint32_t db_;
  std::string sha_;
  std::string frame_;
  const std::shared_ptr<const void> epoch_token_;  // of Router
  Slice reply_;
};

// A command whose keys a server is asked for.
struct AskedCommand {
  const protocol::CommandRow* row;
  std::shared_ptr<const protocol::LearnedCommands> learned;  // may own the row
  uint32_t db;
  std::string frame;
  std::shared_ptr<const Topology> topology;  // that it is routed by, whatever comes meanwhile
  std::shared_ptr<const void> epoch_token;   // of Router
};

// A command of which only a server can tell the keys (learnt from a module): COMMAND GETKEYS on one shard,
// then the command on the shard of its keys.
class AskKeysCollector final : public ReplyCollector {
 public:
  // Sends the command to where its keys are, with whatever collector it needs; answers an error text, and
  // sends nothing, for keys that do not share a shard.
  class KeyRouter {
   public:
    virtual std::string SendByKeys(Request& request, AskedCommand command,
                                   const std::vector<std::string_view>& keys) = 0;

   protected:
    ~KeyRouter() = default;
  };
  AskKeysCollector(RequestTable& requests, KeyRouter& router, AskedCommand command)
      : requests_(requests), router_(router), command_(std::move(command)) {}

  void OnPart(Request&, uint32_t, const Slice& reply) override { reply_ = reply; }
  bool OnAllParts(Request& request) override;
  void Finish(Request& request, OutputQueue& out) override;

 private:
  RequestTable& requests_;
  KeyRouter& router_;
  AskedCommand command_;
  Slice reply_;  // to COMMAND GETKEYS, or an error
};

}  // namespace ringway::proxy
