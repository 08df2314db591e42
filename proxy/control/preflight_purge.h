#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/control/preflight_server.h"
#include "proxy/move/move_plan.h"

namespace ringway::proxy {

// Removes from a target, before anything moves, what it does not own yet and could be taken for what moves to
// it: all keys of a server that joins, and those of moving hashes of one that stays.
// Thread: the loop's. Owns: nothing.
class PreflightPurge {
 public:
  // `problem` empty: `removed` keys are gone. Once, and not from within Start.
  using Done = std::function<void(uint64_t removed, const std::string& problem)>;

  // `server` outlives this object.
  PreflightPurge(PreflightServer& server, const MovePlan& plan, Done done)
      : server_(server), plan_(plan), done_(std::move(done)) {}

  void Start() { NextDatabase(); }

 private:
  void NextDatabase();
  void Scan(const std::string& cursor);
  void OnKeys(const ShardClient::Answer& answer);
  void Unlink(const std::string& frame, size_t commands, const std::string& cursor);
  void GoOn(const std::string& cursor);
  bool IsForeign(std::string_view key) const;
  bool Failed(const ShardClient::Answer& answer);

  PreflightServer& server_;
  const MovePlan& plan_;
  const Done done_;
  size_t next_database_ = 0;  // index into server_.keyspace
  uint64_t removed_ = 0;
};

}  // namespace ringway::proxy
