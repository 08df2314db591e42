#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/core_world.h"

namespace ringway::proxy {

// A client in a simulation of moves. On keys that nobody else has it knows what each reply must be, from its
// own requests in the order in which it sent them, until a write fails: then the next read tells. Of replies
// on keys that it shares with others it only sees that they are sound; the servers compare those with the
// truth. Thread: one. Owns: the session.
class MoveSimClient {
 public:
  using Random = std::mt19937_64;

  // `expiries`: some keys of several clients expire.
  MoveSimClient(SessionEnvironment& environment, uint64_t id, Random& random, bool expiries);

  void AddRequest();
  // As much as the session takes of what was added, or less.
  void SendSome();
  void SendAll();
  // Looks at the replies that have come. What was wrong, or empty.
  std::string Check();

  FakeClient& fake() { return client_; }
  uint64_t id() const { return id_; }
  bool waiting() const { return !expected_.empty() || !unsent_.empty(); }
  size_t replies() const { return replies_; }
  size_t errors() const { return errors_; }

 private:
  // The value of a key of its own: nothing if that is not known, else the value or that there is none.
  using Known = std::optional<std::optional<std::string>>;
  using Request = std::vector<std::string>;

  uint64_t Below(uint64_t limit) { return random_() % limit; }
  std::string OwnKey();
  std::string OwnCounter();
  Request SharedRequest();
  Request GroupRequest();
  Request OwnRequest();
  void Send(const Request& request);
  std::string CheckReply(const Request& request, const std::string& reply);
  std::string CheckOwn(const Request& request, const std::string& reply);
  std::string Expect(const std::string& key, const std::string& reply);
  void Forget(const Request& request);

  Random& random_;
  const uint64_t id_;
  const bool expiries_;
  const std::string prefix_;
  FakeClient client_;
  std::string unsent_;
  std::deque<Request> expected_;
  std::map<std::string, Known> own_;
  uint64_t next_value_ = 1;
  size_t replies_ = 0;
  size_t errors_ = 0;
};

}  // namespace ringway::proxy
