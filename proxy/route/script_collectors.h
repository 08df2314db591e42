#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/route/request.h"
#include "proxy/route/script_cache.h"
#include "proxy/route/shard_sender.h"

namespace ringway::proxy {

// EVALSHA: when the shard does not know the script (it restarted, or joined later) and a client has shown it
// to the proxy before, loads it there and asks again; the client sees the last answer alone.
class EvalShaCollector final : public ReplyCollector {
 public:
  EvalShaCollector(ShardSender& sender, ScriptCache& scripts, uint32_t shard_id, uint32_t db,
                   std::string_view sha, std::string_view frame)
      : sender_(sender), scripts_(scripts), shard_id_(shard_id), db_(db), sha_(sha), frame_(frame) {}

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
  Slice reply_;
};

// A command of which only a server can tell the keys (learnt from a module): COMMAND GETKEYS on one shard,
// then the command on the shard of its keys.
class AskKeysCollector final : public ReplyCollector {
 public:
  // Where keys go; gives a shard's id, or an error text for keys that do not share one.
  class KeyRouter {
   public:
    virtual std::string RouteKeys(const std::vector<std::string_view>& keys, uint32_t* shard_id) = 0;

   protected:
    ~KeyRouter() = default;
  };
  AskKeysCollector(ShardSender& sender, KeyRouter& router, uint32_t db, std::string_view frame)
      : sender_(sender), router_(router), db_(db), frame_(frame) {}

  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  void Finish(Request& request, OutputQueue& out) override;

 private:
  enum Part : uint32_t { kGetKeys, kCommand };

  ShardSender& sender_;
  KeyRouter& router_;
  uint32_t db_;
  std::string frame_;
  Slice reply_;
};

}  // namespace ringway::proxy
