#pragma once

#include <cstdint>
#include <optional>

namespace ringway::bench {

// What a process has used since it began, all its living threads together.
struct ProcessUsage {
  uint64_t cpu_ns = 0;
  uint64_t voluntary_switches = 0;    // it had nothing to do
  uint64_t involuntary_switches = 0;  // something else was given its core
};

// Reads /proc/PID/task/*: nanoseconds from schedstat, or clock ticks (10 ms as a rule) from stat where
// the kernel keeps no schedstat. A thread that ends between two readings takes its share with it.
// Nothing when there is no such process.
std::optional<ProcessUsage> ReadProcessUsage(int pid);

}  // namespace ringway::bench
