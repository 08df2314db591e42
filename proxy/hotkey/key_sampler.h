#pragma once

#include <cstdint>
#include <string_view>

#include "protocol/command_table.h"
#include "proxy/hotkey/doorkeeper.h"
#include "proxy/hotkey/heavy_hitters.h"
#include "proxy/hotkey/key_report.h"

namespace ringway::proxy {

// Looks at one key in kSampling, on average. The distance to the next one is drawn anew each time: a fixed
// one would look at the same place of each pipeline, and never see a key that stands elsewhere in it. Thread:
// one worker. Owns: the counts. Limits: those of HeavyHitters; reports of kMaxReported keys.
class KeySampler {
 public:
  static constexpr uint32_t kSampling = 16;
  static constexpr size_t kMaxReported = 256;
  // Of the samples in a report, beyond the first, which the doorkeeper holds back.
  static constexpr uint64_t kLeastReported = 1;

  // `seed`: of the distances; another one for each worker.
  explicit KeySampler(uint64_t seed) : random_(seed), countdown_(Distance()) {}

  // For each key of a request, on its way to the shards. `read`: a bucket could answer it.
  void Note(uint32_t db, std::string_view key, bool read) {
    if (--countdown_ == 0) [[unlikely]]
      Take(db, key, read);
  }
  void Note(uint32_t db, std::string_view key, const protocol::CommandRow& row) {
    if (--countdown_ == 0) [[unlikely]]
      Take(db, key, CopyCanAnswer(row));
  }

  // At first it is. While it is not, nothing is counted, and what had been is forgotten report by report.
  void set_enabled(bool enabled);

  // What has been counted, halved since in each report. To be called twice a second.
  KeyReport TakeReport();

 private:
  static constexpr uint32_t kNever = UINT32_MAX;

  void Take(uint32_t db, std::string_view key, bool read);
  // 1 to 2 * kSampling - 1, each as likely.
  uint32_t Distance();

  Doorkeeper doorkeeper_;
  HeavyHitters hitters_;
  uint64_t random_;
  bool enabled_ = true;
  uint32_t countdown_;
};

}  // namespace ringway::proxy
