#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/core_world.h"

namespace ringway::proxy {

// One worker without sockets, and random clients and shards around it. Every request carries a tag of its own
// and its reply tells the tag, so each client can say of every reply whether it is the right one, in its
// place. Everything follows from the seed. Thread: one. Owns: the world.
class WorkerSim {
 public:
  struct Options {
    uint64_t seed = 1;
    size_t clients = 8;
    size_t shards = 3;
    int steps = 3000;
    // A fault on purpose, to see that the checker sees it: the shard with index 0 leaves out one reply.
    bool drops_a_reply = false;
  };
  explicit WorkerSim(const Options& options);

  // Runs to the end, all answered; the first thing that was wrong, or nothing.
  std::string Run();

  size_t replies_checked() const { return replies_checked_; }
  size_t errors_seen() const { return errors_seen_; }
  size_t clients_left() const { return clients_left_; }
  size_t shards_died() const { return shards_died_; }

 private:
  // A reply that a client waits for.
  struct Expected {
    std::string reply;
    bool may_fail;  // a shard has a part in it: -SHARDDOWN and -SHARDTIMEOUT are right as well
  };
  struct SimClient {
    std::unique_ptr<FakeClient> client;
    std::string unsent;
    std::deque<Expected> expected;
  };
  struct SimShard {
    FakeShard fake;
    std::string outgoing;  // replies that have not been given to the proxy
    bool stopped = false;  // answers nothing for a while
    // The connection that requests use while a large reply occupies the first one; null until there is one.
    ShardSession* further = nullptr;
  };

  uint64_t Random(uint64_t below) { return random_() % below; }
  bool OneIn(uint64_t n) { return Random(n) == 0; }

  void Step();
  void AddRequest(SimClient& client);
  void SendSome(SimClient& client);
  void Leave(SimClient& client);
  void Connect(SimClient& client);
  void Serve(size_t shard);
  std::string AnswerOf(const std::vector<std::string>& request);
  void GiveSome(size_t shard, size_t most);
  void Die(size_t shard);
  void TimeOut();
  void EndTurn();
  // Takes whole replies from the front of what the client has received and compares them.
  void Check(SimClient& client);
  void Drain();

  const Options options_;
  std::mt19937_64 random_;
  CoreWorld world_;
  std::vector<SimClient> clients_;
  std::vector<SimShard> shards_;
  uint64_t next_tag_ = 1;
  uint64_t next_client_id_ = 1;
  bool dropped_ = false;
  bool may_close_ = false;  // a shard died in this turn: clients whose reply broke off are closed
  std::string problem_;
  size_t replies_checked_ = 0;
  size_t errors_seen_ = 0;
  size_t clients_left_ = 0;
  size_t shards_died_ = 0;
};

}  // namespace ringway::proxy
