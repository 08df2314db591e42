// When watching a move is over.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/reshard/move_snapshot.h"

namespace ringway::proxy::reshard {

// Decides, from one snapshot after the other, whether the move that is followed goes on, has ended, or is
// known no more. Pure. Thread: one. Owns: nothing else.
class MoveFollower {
 public:
  // A proxy that has just said yes to a move may show the one before for so long.
  static constexpr double kForgottenAfterSeconds = 3;

  enum class Verdict {
    kGoesOn,
    kEnded,      // the snapshot is of its end
    kNone,       // nothing was under way when the watch began
    kSucceeded,  // another move has begun since, so it has ended, and how cannot be told
    kForgotten,  // the proxy has started anew without a state that knew of it
  };

  // Without an id the move that is under way at the first snapshot is followed.
  explicit MoveFollower(std::optional<uint64_t> id) : id_(id) {}

  // `now`: seconds of any clock that only goes forward.
  Verdict Look(const MoveSnapshot& snapshot, double now);

  std::optional<uint64_t> id() const { return id_; }

 private:
  std::optional<uint64_t> id_;
  std::optional<double> unknown_since_;
};

}  // namespace ringway::proxy::reshard
