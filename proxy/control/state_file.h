#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "config/result.h"
#include "proxy/control/saved_state.h"
#include "proxy/net/event_handles.h"

namespace ringway::proxy {

// The state on disk, and the lock that keeps a second proxy away from it for as long as this object lives.
// Thread: one at a time. Owns: the lock. Limits: kMaxBytes.
class StateFile {
 public:
  // The largest ring in all of the state's lists, with the longest names and addresses, stays below.
  static constexpr size_t kMaxBytes = size_t{32} << 20;

  // Takes the lock (`path`.lock), which names the process that holds it. With an empty path nothing is
  // locked, loaded or saved: what happens is forgotten with the process.
  static config::Result<std::unique_ptr<StateFile>> Open(const std::string& path);
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  bool is_kept() const { return !path_.empty(); }
  const std::string& path() const { return path_; }

  // nullopt: there is none yet. A file that is broken, cut short or of another program is a problem.
  config::Result<std::optional<SavedState>> Load() const;

  // Replaces the file as a whole, and returns when a power cut cannot undo it any more: that takes a disk's
  // time (milliseconds). Empty, or why it is not sure to be saved.
  std::string Save(const SavedState& state) const;

 private:
  StateFile(std::string path, UniqueFd lock);

  const std::string path_;
  UniqueFd lock_;
};

}  // namespace ringway::proxy
