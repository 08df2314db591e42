#pragma once

#include <cstddef>
#include <cstdint>

namespace ringway::proxy {

// How many keys all sources together may give in a second. Pure. Thread: one.
class KeyAllowance {
 public:
  // 0: any number.
  void SetRate(int64_t keys_per_second);

  struct Grant {
    size_t keys;        // 0: come again
    int64_t wait_usec;  // then
  };
  // Up to `wanted` (above 0) keys may be moved now.
  Grant Take(int64_t now_usec, size_t wanted);
  // Those of a grant that were not moved after all.
  void GiveBack(size_t keys);

 private:
  // What may be saved up while nothing moves: enough to forgive a late timer, too little for a burst to
  // matter.
  static constexpr double kBurstSeconds = 0.1;
  // Grants smaller than what comes in this time are not worth a call.
  static constexpr double kWorthwhileSeconds = 0.02;

  int64_t rate_ = 0;
  double keys_ = 0;
  int64_t filled_usec_ = 0;
};

// When the next call to one source may begin, so that it is busy with us no more than a share of its time;
// and how large calls may be so that none keeps others waiting for long. Pure. Thread: one.
class SourcePace {
 public:
  // What other clients of a source may have to wait for one call: less than they would notice, and enough to
  // be worth its round trip.
  static constexpr int64_t kCallUsec = 1'000;
  // The limits of a batch's keys. The upper one holds for tiny keys on fast machines.
  static constexpr size_t kMaxBatchKeys = 256;
  // Keys in one batch beyond this many bytes wait for the next: a millisecond or two at a gigabit.
  static constexpr uint64_t kMaxBatchBytes = 256 * 1024;
  static constexpr size_t kMinScanCount = 10;
  static constexpr size_t kMaxScanCount = 1'000;

  // Of its time, above 0; 1 and more, and 0: no limit.
  void SetMaxBusy(double share) { max_busy_ = share; }

  // A call took from `sent_usec` to `answered_usec`.
  void OnCall(int64_t sent_usec, int64_t answered_usec);
  // The same of a batch of `units` (the sum of its keys' Units), and of a SCAN with COUNT `count`: their
  // sizes follow.
  void OnBatch(int64_t sent_usec, int64_t answered_usec, double units);
  void OnScan(int64_t sent_usec, int64_t answered_usec, size_t count);

  int64_t next_call_usec() const { return next_call_usec_; }
  size_t scan_count() const { return scan_count_; }

  // The work that a key of this size is: that of a small one is 1.
  static double Units(uint64_t bytes) { return 1.0 + static_cast<double>(bytes) / kBytesPerUnit; }
  // What the next batch may add up to.
  double batch_units() const { return batch_units_; }

 private:
  static constexpr double kBytesPerUnit = 2'048;

  // Beyond it nothing but the limits of keys and bytes counts.
  static constexpr double kMaxBatchUnits = 512;

  double max_busy_ = 0;
  int64_t next_call_usec_ = 0;
  double batch_units_ = 16;
  size_t scan_count_ = 100;
};

}  // namespace ringway::proxy
