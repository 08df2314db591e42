// What every test has: time to wait, a seed, a place for files, and which target it talks to.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>

namespace ringway::test {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How long a test waits for something that should happen at once. Generous, for sanitizers on a busy
// machine: a test that passes never waits this long.
inline constexpr milliseconds kPatience = seconds(10);

// Polls `condition` every few milliseconds until it holds (true) or `timeout` has passed (false).
// The one place where tests sleep.
bool Eventually(const std::function<bool()>& condition, milliseconds timeout = kPatience);

// The opposite: true when `condition` holds during the whole of `period`, looked at every few milliseconds.
bool Consistently(const std::function<bool()>& condition, milliseconds period);

// The seed of this run: RINGWAY_SEED, or a fresh one. Printed at its first use, so that a failure can be
// replayed.
uint64_t TestSeed();

// A generator seeded with TestSeed(); `stream` separates several users within one test.
std::mt19937_64 TestRandom(uint64_t stream = 0);

// RINGWAY_TEST_TARGET=direct: tests talk to one plain redis-server in the place of the proxy. Proves the
// tests themselves: what they ask of the proxy is what Redis does.
bool DirectMode();

// True when this program, and so the proxy built beside it, runs under a sanitizer: several times slower and
// with a quarantine that keeps freed memory, so figures of time and memory mean little.
bool Sanitized();

// An integer from the environment, or `fallback` when absent or not a number.
int64_t EnvironmentInteger(const char* name, int64_t fallback);

// Ends the set-up of a test: a server did not start, say. GoogleTest reports it as that test's failure, and
// what was started before is put away.
class SetUpFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A directory of its own under the system's temporary one, removed with all it holds in the destructor.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  // Path of `name` inside the directory.
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void WriteFile(const std::string& path, const std::string& text);
// The whole file; empty when it cannot be read.
std::string ReadFile(const std::string& path);

}  // namespace ringway::test
