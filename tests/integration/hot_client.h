// One client of the hot-key checker.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/integration/hot_checker.h"

namespace ringway::test {

// Sends pipelines of reads and writes of a few keys, and judges the replies.
// Thread: one at a time. Owns: its connection. Limits: none.
class HotClient {
 public:
  HotClient(int id, int database, HotChecker* checker);

  // Connects where needed, and sends one pipeline; Collect reads and judges its replies.
  void SendRound();
  void Collect();

 private:
  struct Awaited {
    HotSubject* subject;
    HotTicket ticket;
    bool is_write = false;
    HotWrite write;
    Command read;
  };

  bool Connected();
  void AddRead(HotSubject* subject, std::string* bytes);
  // False when there is nothing to write just now.
  bool AddWrite(HotSubject* subject, std::string* bytes);
  // The replies to one of them.
  std::vector<Reply> ReadReplies(const Awaited& awaited);
  std::string Judge(const Awaited& awaited, const std::vector<Reply>& replies);
  // Whether to go away without waiting for the replies.
  bool HangsUp();
  uint64_t Pick(size_t count) { return random_() % count; }
  int64_t Pause();

  const int id_;
  const int database_;
  HotChecker* const checker_;
  std::mt19937_64 random_;
  RespClient connection_;
  bool broken_ = false;
  std::vector<HotSubject*> subjects_;
  std::vector<Awaited> awaited_;
  std::map<HotSubject*, int64_t> seen_;  // of this pipeline
};

}  // namespace ringway::test
