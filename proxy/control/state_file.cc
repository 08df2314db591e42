#include "proxy/control/state_file.h"

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ringway::proxy {
namespace {

using Loaded = config::Result<std::optional<SavedState>>;
using Opened = config::Result<std::unique_ptr<StateFile>>;

std::string Reason(int error) { return std::strerror(error); }

// All of a file, at most `max` bytes and one more, so that the caller sees what is too long.
bool ReadAll(int fd, size_t max, std::string* text) {
  char buffer[65536];
  while (text->size() <= max) {
    const ssize_t got = ::read(fd, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) return true;
    text->append(buffer, static_cast<size_t>(got));
  }
  return true;
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    text.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A new name is on disk once its folder is.
bool SyncFolder(const std::string& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd.valid() && ::fsync(fd.get()) == 0;
}

// Says who holds the lock, as far as its holder has written it down.
std::string Holder(int fd) {
  std::string pid;
  if (!ReadAll(fd, 32, &pid)) return "another proxy";
  pid = pid.substr(0, pid.find('\n'));
  return pid.empty() ? "another proxy" : "the proxy with process id " + pid;
}

}  // namespace

StateFile::StateFile(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

Opened StateFile::Open(const std::string& path) {
  const auto fail = [&path](const std::string& what) {
    return Opened::Failure({{"state_file", path + ": " + what}});
  };
  if (path.empty()) return std::unique_ptr<StateFile>(new StateFile("", UniqueFd()));
  const std::string lock_path = path + ".lock";
  // It stays when the proxy ends: who removed it could take it from one who has just opened it.
  UniqueFd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock.valid()) return fail("its lock " + lock_path + " cannot be made: " + Reason(errno));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fail("its lock " + lock_path + " cannot be taken: " + Reason(errno));
    return fail("in use by " + Holder(lock.get()) + ", and each proxy needs a file of its own");
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock.get(), 0) != 0 || !WriteAll(lock.get(), pid)) {
    return fail("its lock " + lock_path + " cannot be written: " + Reason(errno));
  }
  return std::unique_ptr<StateFile>(new StateFile(path, std::move(lock)));
}

Loaded StateFile::Load() const {
  if (!is_kept()) return Loaded(std::nullopt);
  const UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid() && errno == ENOENT) return Loaded(std::nullopt);
  std::string text;
  if (!fd.valid() || !ReadAll(fd.get(), kMaxBytes, &text)) {
    return Loaded::Failure({{"state_file", path_ + " cannot be read: " + Reason(errno)}});
  }
  if (text.size() > kMaxBytes) {
    return Loaded::Failure(
        {{path_, "no state of a proxy: expected at most " + std::to_string(kMaxBytes) + " bytes"}});
  }
  config::Result<SavedState> state = ReadState(text, path_);
  if (!state.ok()) return Loaded::Failure(state.problems());
  return Loaded(std::move(state).value());
}

std::string StateFile::Save(const SavedState& state) const {
  if (!is_kept()) return "";
  const std::string fresh_path = path_ + ".new";
  const auto fail = [&](const std::string& what) {
    const std::string reason = Reason(errno);
    ::unlink(fresh_path.c_str());
    return "state_file " + path_ + " cannot be saved: " + what + ": " + reason;
  };
  UniqueFd fd(::open(fresh_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd.valid()) return fail("making " + fresh_path);
  if (!WriteAll(fd.get(), WriteState(state))) return fail("writing " + fresh_path);
  if (::fsync(fd.get()) != 0) return fail("bringing " + fresh_path + " to disk");
  fd.Reset();
  if (::rename(fresh_path.c_str(), path_.c_str()) != 0) return fail("renaming " + fresh_path);
  if (!SyncFolder(FolderOf(path_))) return fail("bringing its folder to disk");
  return "";
}

}  // namespace ringway::proxy
