#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "proxy/local/config_parameters.h"
#include "proxy/route/request.h"

namespace ringway::proxy {

class Worker;

// Sets the proxy's own parameters, which ParseConfigSet has let through, on all workers, and says so in the
// log.
void SetOwnParameters(Worker& worker, const Parameters& own);

// CONFIG GET of parameters that a shard knows: adds its answer to what the proxy has, whose own parameters
// win. Thread: one worker. Owns: the shard's reply.
class ConfigGetCollector final : public ReplyCollector {
 public:
  ConfigGetCollector(Worker& worker, Parameters own) : worker_(worker), found_(std::move(own)) {}

  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  void Finish(Request& request, OutputQueue& out) override;

 private:
  void Merge(std::string_view reply);

  Worker& worker_;
  Parameters found_;
  Slice error_;
};

// CONFIG SET of parameters of which all or some are the shards': once all shards have set theirs, the proxy
// sets its own, and the answer comes when every worker has them. Thread: one worker. Owns: the first error.
class ConfigSetCollector final : public ReplyCollector {
 public:
  ConfigSetCollector(Worker& worker, Parameters own) : worker_(worker), own_(std::move(own)) {}

  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  void Finish(Request& request, OutputQueue& out) override;

 private:
  Worker& worker_;
  const Parameters own_;
  bool applied_ = false;
  uint32_t successes_ = 0;
  uint32_t failures_ = 0;
  std::string error_;
};

}  // namespace ringway::proxy
