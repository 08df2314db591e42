// What RING PLAN foretells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct redisReply;

namespace ringway::proxy::reshard {

// The answer to RING PLAN, read. Texts are Printable.
struct RingPreview {
  struct Move {
    std::string from;
    std::string to;
    double share = 0;  // of the ring
    uint64_t keys = 0;
    uint64_t bytes = 0;
  };
  // Shares of the ring relative to the weights.
  struct Balance {
    double max_over_mean = 0;
    double min_over_mean = 0;
    double stddev = 0;
  };
  struct Shard {
    std::string name;
    double share = 0;
    double share_wanted = 0;
  };

  double moving_share = 0;
  double least_possible_share = 0;
  uint64_t keys = 0;
  uint64_t bytes = 0;
  std::vector<Move> moves;
  Balance before;
  Balance after;
  std::vector<Shard> shards_after;
  // What else the proxy had to say, "what: names": shards that gave no figures or are given up, say.
  std::vector<std::string> notes;
};

// Reads a map as RESP2 writes it, keys and values in turn. Unknown keys become notes where they hold text and
// are skipped otherwise; nothing when the reply is no map with `moving_share`.
std::optional<RingPreview> ParseRingPreview(const redisReply& reply);

// The tables that are shown before the question, none wider than `width`.
std::vector<std::string> DescribePreview(const RingPreview& preview, size_t width);

}  // namespace ringway::proxy::reshard
