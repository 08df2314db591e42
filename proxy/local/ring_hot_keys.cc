// RING HOTKEYS, and where RING LOCATE finds the buckets of hot keys.
#include <algorithm>
#include <optional>

#include "protocol/error_replies.h"
#include "protocol/number_text.h"
#include "proxy/local/entries.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

using Outcome = RequestHandler::Outcome;

constexpr int64_t kDefaultCount = 10;
constexpr int64_t kMaxCount = 1000;

}  // namespace

Outcome RingHotKeys(LocalCall& call) {
  if (call.request.size() > 3) {
    call.session.Reject(call.row.id, protocol::WrongArity(call.row.name));
    return Outcome::kTaken;
  }
  int64_t count = kDefaultCount;
  if (call.request.size() == 3) {
    const std::optional<int64_t> given = protocol::ParseInt64(call.request[2]);
    if (!given.has_value() || *given < 1 || *given > kMaxCount) {
      call.session.Reject(call.row.id, "ERR count must be a number from 1 to 1000");
      return Outcome::kTaken;
    }
    count = *given;
  }
  const auto keys = call.worker.state().hot_keys.Get();
  const size_t shown = std::min(keys->size(), static_cast<size_t>(count));
  call.reply.Array(shown);
  for (size_t i = 0; i < shown; ++i) {
    const TrackedKey& key = (*keys)[i];
    call.reply.Map(6);
    call.reply.Bulk("key");
    call.reply.Bulk(key.key);
    call.reply.Bulk("db");
    call.reply.Integer(key.db);
    call.reply.Bulk("rate");
    call.reply.Double(key.rate);
    call.reply.Bulk("share");
    call.reply.Double(key.share);
    call.reply.Bulk("buckets");
    call.reply.Integer(static_cast<int64_t>(key.buckets()));
    call.reply.Bulk("bucket_hits");
    call.reply.Integer(static_cast<int64_t>(key.bucket_hits()));
  }
  return Outcome::kTaken;
}

std::vector<std::string_view> ShardsOfBuckets(LocalCall& call, const Topology& topology,
                                              std::string_view key) {
  const uint32_t db = call.session.state().db;
  const auto keys = call.worker.state().hot_keys.Get();
  const auto hot = std::find_if(keys->begin(), keys->end(), [&](const TrackedKey& other) {
    return other.placement != nullptr && other.db == db && other.key == key;
  });
  std::vector<std::string_view> names;
  if (hot == keys->end()) return names;
  names.push_back(topology.shards[topology.Locate(key)].config.name);
  for (const auto& bucket : hot->placement->buckets) {
    for (const Shard& shard : topology.shards) {
      if (shard.id == bucket->shard_id) names.push_back(shard.config.name);
    }
  }
  return names;
}

}  // namespace ringway::proxy
