// One client of the chaos test: what it asks, and whether an answer can be its own.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "tests/support/resp_client.h"

namespace ringway::test {

// Makes requests on keys that no other client uses, with values that name client, key and a serial number,
// and judges replies in the order of the requests. Pure: no socket. Thread: one at a time. Owns: nothing.
// Limits: none.
class ChaosClient {
 public:
  ChaosClient(int id, uint64_t seed) : id_(id), random_(seed) {}

  // The next request; remembers what may be answered.
  Command Next();
  // Empty when `reply` may be the answer to the oldest request that has none yet, else what is wrong.
  // A shard that is stopped or lost may cost an error (SHARDDOWN, SHARDTIMEOUT) or the value (nil), but never
  // brings a value of another key, of another client, or one that was not written yet.
  std::string Judge(const Reply& reply);

  size_t unanswered() const { return expected_.size(); }
  int64_t answers() const { return answers_; }
  int64_t errors() const { return errors_; }

 private:
  enum class Kind { kOk, kEcho, kValue, kValues, kCount };
  struct Expected {
    Kind kind;
    std::string text;       // kEcho
    std::vector<int> keys;  // kValue, kValues
    int64_t most = 0;       // kCount
    int64_t latest = 0;     // serial number of the last write sent before
  };

  std::string Key(int key) const;
  std::string Value(int key, int64_t serial) const;
  std::string JudgeValue(const Reply& reply, int key, int64_t latest) const;

  int id_;
  std::mt19937_64 random_;
  int64_t serial_ = 0;
  std::deque<Expected> expected_;
  int64_t answers_ = 0;
  int64_t errors_ = 0;
};

}  // namespace ringway::test
