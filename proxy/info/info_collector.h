#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proxy/info/info_sections.h"
#include "proxy/route/request.h"

namespace ringway::proxy {

// INFO, or another command whose reply needs what the shards' INFO says: part i is the answer of shard i of
// the topology in `facts`. A shard that fails is left out; the reply is never an error. Thread: one worker.
// Owns: the facts gathered so far.
class InfoCollector final : public ReplyCollector {
 public:
  InfoCollector(std::vector<const InfoSection*> sections, InfoFacts facts)
      : sections_(std::move(sections)), facts_(std::move(facts)) {}

  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  void Finish(Request& request, OutputQueue& out) override;

 private:
  std::vector<const InfoSection*> sections_;
  InfoFacts facts_;
};

}  // namespace ringway::proxy
