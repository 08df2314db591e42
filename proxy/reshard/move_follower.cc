#include "proxy/reshard/move_follower.h"

namespace ringway::proxy::reshard {

MoveFollower::Verdict MoveFollower::Look(const MoveSnapshot& snapshot, double now) {
  if (!id_) {
    if (!snapshot.under_way()) return Verdict::kNone;
    id_ = snapshot.id;
  }
  if (snapshot.id == *id_) {
    unknown_since_.reset();
    return snapshot.under_way() ? Verdict::kGoesOn : Verdict::kEnded;
  }
  if (snapshot.id > *id_) return Verdict::kSucceeded;
  if (!unknown_since_) unknown_since_ = now;
  return now - *unknown_since_ > kForgottenAfterSeconds ? Verdict::kForgotten : Verdict::kGoesOn;
}

}  // namespace ringway::proxy::reshard
