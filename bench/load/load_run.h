#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <netinet/in.h>

#include "bench/load/latency_histogram.h"
#include "bench/load/load_client.h"
#include "bench/load/options.h"
#include "bench/load/prepared_requests.h"
#include "bench/load/process_usage.h"
#include "bench/load/tally.h"

namespace ringway::bench {

struct LoadResult {
  Tally tally;
  LatencyHistogram latency;
  double seconds = 0;
  double own_cpu_seconds = 0;
  bool stalled = false;
  std::optional<ProcessUsage> watched;  // what --watch-pid used while measuring
};

// One run: warm-up, measurement, end. All clients are served by one epoll loop.
//
// Thread: one.
// Owns: clients, the prepared requests, the read buffer that all clients share.
// Limits: the number of open files; a failed connection is tried again after 10 ms.
class LoadRun {
 public:
  explicit LoadRun(const LoadOptions& options);
  ~LoadRun();
  LoadRun(const LoadRun&) = delete;
  LoadRun& operator=(const LoadRun&) = delete;

  // False, with the reason, when the run cannot begin.
  bool Prepare(std::string* error);
  LoadResult Run();

 private:
  enum class Phase { kWarmup, kMeasuring, kDone };

  void Turn();
  void StartClient(LoadClient* client);
  void Serve(LoadClient* client, uint32_t events);
  void CountReplies(const LoadClient& client, uint64_t replies);
  void Next(LoadClient* client);
  void Lose(LoadClient* client);
  bool MayIssue();
  void AdvancePhase();
  void BeginMeasuring();
  void EndMeasuring();
  bool AllIdle() const;
  uint32_t SourceAddress();

  const LoadOptions options_;
  sockaddr_in address_ = {};
  int epoll_ = -1;
  std::unique_ptr<PreparedRequests> prepared_;
  std::vector<char> buffer_;
  LoadResult result_;
  std::vector<std::unique_ptr<LoadClient>> clients_;
  std::vector<LoadClient*> to_connect_;
  std::vector<LoadClient*> to_retry_;  // failed; wait for retry_at_ns_

  Phase phase_ = Phase::kWarmup;
  uint64_t now_ns_ = 0;
  uint64_t phase_start_ns_ = 0;
  uint64_t last_reply_ns_ = 0;
  uint64_t retry_at_ns_ = 0;
  uint64_t issued_ = 0;  // requests sent while measuring
  uint64_t connects_ = 0;
  double own_cpu_start_ = 0;
  std::optional<ProcessUsage> watched_start_;
};

}  // namespace ringway::bench
