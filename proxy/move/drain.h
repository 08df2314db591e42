#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "proxy/shard/shard_pool.h"

namespace ringway::proxy {

// Tells when what followed an older topology can no longer reach a server, but through a lost connection.
// Requests that go to shards in several steps hold their router's epoch token until the last one has been
// sent; from then on the servers only have to answer what stands in the connections. Thread: one worker.
// Owns: nothing.
class Drain {
 public:
  explicit Drain(ShardPool& pool, DrainFor whom = DrainFor::kMove) : pool_(pool), whom_(whom) {}

  // When the router is about to adopt a topology: its present epoch token.
  void Begin(const std::shared_ptr<const void>& epoch_token);
  // Whether it has ended for these servers, by their ids; the same ones until the next Begin. To be asked at
  // the end of each turn. `to_the_end`: their connections are to be closed, so large replies that are being
  // passed on must have ended too.
  bool Ended(const std::vector<uint32_t>& servers, bool to_the_end);

 private:
  ShardPool& pool_;
  const DrainFor whom_;
  std::vector<std::weak_ptr<const void>> older_epochs_;
  bool marked_ = true;  // nothing further of older epochs will be sent: the connections have been marked
};

}  // namespace ringway::proxy
