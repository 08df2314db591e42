// The clients that find an old copy of a hot key.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/hot_subject.h"

namespace ringway::test {

struct HotCheckerOptions {
  std::string address;
  int threads = 8;
  int clients_per_thread = 4;
  // Beside one key of each kind in database 0, as many counters; the same names, with other values, are in
  // database 3, and database 5 is flushed.
  int counters = 1;
  // After a write up to so long without one: only then can copies be made and read.
  int64_t pause_usec = 50'000;
  // One write in so many is followed by such a pause, the others come as fast as they can.
  int burst = 4;
  // As many writes as reads.
  bool half_writes = false;
  // Whether a read sees nothing older than an earlier read of its pipeline, though neither is answered.
  bool reads_in_order = true;
  // Whether names may be used: all of HotNames::All.
  std::function<bool(const HotNames&)> accepts = [](const HotNames&) { return true; };
};

class HotClient;

// Clients that read and write a few keys, of which all know what may be read. What a client sees in one
// pipeline is judged in its order, too: later reads see no older version, those after a write see it, those
// before do not.
// Thread: the test's own; clients run on threads of the checker. Owns: threads and connections.
// Limits: databases 0, 3 and 5.
class HotChecker {
 public:
  static constexpr int kFirstDatabase = 0;
  static constexpr int kSecondDatabase = 3;
  static constexpr int kFlushedDatabase = 5;

  explicit HotChecker(HotCheckerOptions options);
  ~HotChecker();

  // Writes the cold keys, and starts the clients. Throws SetUpFailure when the target does not serve.
  void Start();
  void Stop();

  MoveExcuses& excuses() { return excuses_; }
  // Marks the keys that may be lost with a server; EndExcuses begins anew with them.
  void Excuse(const std::function<bool(const HotNames&)>& may_be_lost);
  void EndExcuses();

  // Keys of database 0, and so of database 3.
  std::vector<HotNames> Names() const;
  // What was wrong so far; any thread.
  std::vector<std::string> Complaints() const;
  int64_t reads() const { return reads_; }
  int64_t writes() const { return writes_; }
  int64_t lost_answers() const { return lost_answers_; }

 private:
  friend class HotClient;
  // Adds the keys of one database.
  void AddSubjects(int database);
  HotNames MakeNames(const std::string& stem) const;
  void RunThread(int thread);
  void Complain(const std::string& wrong);

  const HotCheckerOptions options_;
  MoveExcuses excuses_;
  std::vector<std::unique_ptr<HotSubject>> subjects_;
  std::vector<std::unique_ptr<HotClient>> clients_;
  std::vector<std::thread> threads_;
  mutable std::mutex mutex_;
  std::vector<std::string> complaints_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> reads_{0};
  std::atomic<int64_t> writes_{0};
  std::atomic<int64_t> lost_answers_{0};
};

}  // namespace ringway::test
