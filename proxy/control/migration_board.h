#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proxy/move/move_plan.h"
#include "proxy/thread_annotations.h"

namespace ringway::proxy {

// What a move did between two servers, or in all. Shares are fractions (0..1) of all hashes.
struct MoveCounts {
  uint64_t keys_on_access = 0;
  uint64_t keys_background = 0;
  uint64_t keys_absent = 0;
  uint64_t bytes = 0;
  uint64_t errors = 0;
  uint64_t remaining = 0;  // estimate
  double share = 0;

  uint64_t keys() const { return keys_on_access + keys_background; }
};

struct MovePairCounts {
  std::string from;
  std::string to;
  MoveCounts counts;
};

// One move: the one under way, or the last that ended. A value.
struct MigrationReport {
  // As in INFO: idle, holding, moving, paused, settling, aborting.
  std::string state = "idle";
  uint64_t id = 0;     // 0: there never was one
  std::string change;  // "ADD s4 10.0.0.4:6379"
  std::string result;  // once it has ended: settled, aborted or failed
  std::string error;   // failed: why
  std::string pause_reason;
  int64_t started_usec = 0;   // of the wall clock
  int64_t finished_usec = 0;  // 0: under way
  int64_t hold_usec = 0;      // the longest time that commands on moving keys had to wait
  uint64_t keys_given_up = 0;
  uint64_t big_keys = 0;
  std::vector<MovePairCounts> pairs;

  bool under_way() const { return id != 0 && finished_usec == 0; }
  MoveCounts Total() const;
  // 0..1, by keys.
  double Progress() const;
};

// The figures of `plan` as they are now, written into `report`.
void ReadFigures(const MovePlan& plan, MigrationReport* report);

// The move under way or the last one, as INFO, RING STATUS and RING LOCATE tell it. Thread: Set from the
// control thread, the rest from any. Owns: the report.
class MigrationBoard {
 public:
  // With the figures of this moment.
  MigrationReport Get() const;
  // `plan`: of the move under way, whose figures still grow; null once `report` has the last ones.
  void Set(MigrationReport report, std::shared_ptr<const MovePlan> plan);
  // Keys moved each second, over the last seconds.
  uint64_t keys_per_second() const;
  void set_keys_per_second(uint64_t rate);

 private:
  mutable Mutex mutex_;
  MigrationReport report_ GUARDED_BY(mutex_);
  std::shared_ptr<const MovePlan> plan_ GUARDED_BY(mutex_);
  uint64_t keys_per_second_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ringway::proxy
