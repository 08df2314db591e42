#pragma once

#include <memory>
#include <vector>

#include "proxy/hotkey/hot_settling.h"
#include "proxy/route/request.h"

namespace ringway::proxy {

// The writes of hot keys that this worker has under way: counts each before it is sent, and ends it when its
// reply is there, or when what was in doubt has settled. Thread: one worker. Owns: what requests' hooks point
// to.
class HotWrites {
 public:
  HotWrites(HotSettling& settling, HotKeyHome& home, WorkerStats& stats);
  ~HotWrites();

  // A key that the request about to be sent writes; Attach makes it so, Drop says that it was not sent.
  void Note(const std::shared_ptr<HotKey>& key) {
    noted_.push_back(key);
    has_notes_ = true;
  }
  bool has_notes() const { return has_notes_; }
  void Attach(Request& request);
  void Drop() {
    noted_.clear();
    has_notes_ = false;
  }

 private:
  class Hook;

  HotSettling& settling_;
  HotKeyHome& home_;
  WorkerStats& stats_;
  std::vector<std::shared_ptr<HotKey>> noted_;
  bool has_notes_ = false;
  std::vector<std::unique_ptr<Hook>> hooks_;
  std::vector<Hook*> free_;
};

}  // namespace ringway::proxy
