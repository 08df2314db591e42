#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "proxy/reshard/interrupts.h"
#include "proxy/reshard/move_follower.h"
#include "proxy/reshard/move_snapshot.h"
#include "proxy/reshard/reshard_options.h"
#include "proxy/reshard/ring_connection.h"
#include "proxy/reshard/screen.h"

namespace ringway::proxy::reshard {

// One run of `ringway reshard`: plan, question, start, and watching until the end.
// Thread: one. Owns: the connection to the proxy; takes SIGINT and SIGTERM. Limits: none.
class ReshardSession {
 public:
  explicit ReshardSession(const ReshardOptions& options)
      : options_(options), connection_(options.proxy, &interrupts_) {}

  // The exit status.
  int Run();

 private:
  using Clock = std::chrono::steady_clock;

  // Each gives an exit status when the run ends with it.
  std::optional<int> Propose();
  std::optional<int> Confirm();
  std::optional<int> Start();
  int Follow();

  // What became of one look at the proxy while following.
  std::optional<int> OnAnswer(const Answer& answer);
  std::optional<int> OnSnapshot(const MoveSnapshot& snapshot);
  std::optional<int> OnSilence(const std::string& why);
  void Show(const std::string& trouble);
  int End(const MoveSnapshot& snapshot);

  int Fail(const std::string& words);
  int Refused(const std::string& words);
  // Ctrl-C while a move goes on.
  int Leave();

  const ReshardOptions options_;
  Screen screen_;
  Interrupts interrupts_;
  RingConnection connection_;
  MoveFollower follower_{std::nullopt};
  MoveSnapshot last_;  // as the proxy said last
  bool seen_ = false;  // `last_` has been filled
  Clock::time_point last_answer_at_;
  Clock::time_point last_line_at_;
  std::string last_line_about_;  // the state and trouble of the last line, where there is no terminal
};

}  // namespace ringway::proxy::reshard
