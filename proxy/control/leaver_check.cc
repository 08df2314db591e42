#include "proxy/control/leaver_check.h"

#include <algorithm>
#include <utility>

#include "protocol/reply_cursor.h"

namespace ringway::proxy {

LeaverCheck::LeaverCheck(ControlLinks& links, const std::vector<Shard>& servers, int64_t timeout_usec,
                         Done done)
    : pending_(servers.size()), done_(std::move(done)) {
  for (const Shard& shard : servers) {
    findings_.push_back({shard, std::nullopt});
    clients_.push_back(std::make_unique<ShardClient>(links, shard, 0, timeout_usec));
  }
  for (size_t i = 0; i < clients_.size(); ++i) {
    clients_[i]->Do({"INFO", "keyspace"},
                    [this, i](const ShardClient::Answer& answer) { OnAnswer(i, answer); });
  }
}

void LeaverCheck::OnAnswer(size_t index, const ShardClient::Answer& answer) {
  if (answer.ok()) {
    const std::optional<std::string_view> info = protocol::BulkOf(answer.back());
    if (info.has_value()) {
      std::vector<KeyspaceLine> keyspace = ReadKeyspace(*info);
      uint64_t keys = 0;
      for (const KeyspaceLine& line : keyspace) keys += line.keys;
      findings_[index].keys = keys;
      if (keys > 0) {
        sweeps_.push_back(std::make_unique<CopySweep>(
            *clients_[index], std::move(keyspace), CopySweep::Options{true, kMaxOthers},
            [this, index](const CopySweep::Result& result) { OnSwept(index, result); }));
        sweeps_.back()->Start();
        return;
      }
    }
  }
  End();
}

void LeaverCheck::OnSwept(size_t index, const CopySweep::Result& result) {
  uint64_t& keys = *findings_[index].keys;
  keys = result.complete ? result.others : keys - std::min(keys, result.removed);
  End();
}

void LeaverCheck::End() {
  if (--pending_ == 0) done_(findings_);
}

}  // namespace ringway::proxy
