#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/sim/model_store.h"

namespace ringway::proxy {

// A Redis server in a simulation: its keys, MULTI and EXEC, and the moves of keys. Commands in small letters
// are a client's, and are run on one store for all servers (the truth) at the same moment: whatever the
// servers do to each other's keys, the replies must be those of a single server. Commands in capitals are the
// proxy's own.
// Thread: one. Owns: its store.
class ModelServer {
 public:
  // How a MIGRATE goes.
  enum class Luck : uint8_t {
    kGood,
    kUnreachable,  // the target did not take part
    kCutOff,       // the target has taken the keys, and the source has not heard of it
    kHalf,         // the first half of the keys has moved when the connection broke
  };
  // What servers share.
  struct Environment {
    const int64_t& now_usec;
    ModelStore& truth;
    std::function<ModelServer*(const std::string& host)> find;
    std::function<Luck()> luck;
    std::string& problem;  // the first reply that was not the truth's
  };
  // One connection's state.
  struct Connection {
    uint32_t db = 0;
    bool in_multi = false;
    std::vector<ModelStore::Args> queued;
  };

  ModelServer(Environment& environment, std::string host)
      : environment_(environment), host_(std::move(host)) {}

  std::string Execute(Connection& connection, const ModelStore::Args& args);
  // What MIGRATE does, for keys of which some may not be there. Its reply.
  std::string Migrate(ModelServer& target, uint32_t db, const std::vector<std::string>& keys);

  ModelStore& store() { return store_; }
  const std::string& host() const { return host_; }

  bool full = false;  // takes no more keys

 private:
  std::string ExecuteOne(uint32_t db, const ModelStore::Args& args);
  std::string ExecuteQueued(uint32_t db, const std::vector<ModelStore::Args>& queued);
  std::string ExecuteClients(uint32_t db, const ModelStore::Args& args);
  std::string ExecuteMigrate(const ModelStore::Args& args);
  std::string ExecuteRestore(uint32_t db, const ModelStore::Args& args);

  Environment& environment_;
  const std::string host_;
  ModelStore store_;
};

}  // namespace ringway::proxy
