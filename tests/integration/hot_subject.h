// A hot key that many clients read and write, and the judge of what they are answered.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/integration/hot_work.h"
#include "tests/integration/move_unit.h"

namespace ringway::test {

// What is known of a key when a command on it is sent.
struct HotTicket {
  int64_t least = 0;         // no older version may be seen
  int64_t most = INT64_MAX;  // nor a newer one: a later write of the same pipeline
  int64_t epoch = 0;         // of excuses
  int64_t sent_usec = 0;
  bool in_pipeline = false;  // `least` is what an earlier command of the same pipeline has seen or written
};

// Thread: any. Owns: nothing. Limits: none.
class HotSubject {
 public:
  virtual ~HotSubject() = default;

  virtual int database() const = 0;
  virtual const HotNames& names() const = 0;
  virtual const std::vector<Command>& reads() const = 0;

  // Before a read is sent.
  virtual HotTicket BeginRead() = 0;
  // Empty, or what is wrong. `version`: what has been seen, or the least that it may have been; else stays.
  virtual std::string JudgeRead(const HotTicket& ticket, const Command& command, const Reply& reply,
                                int64_t* version) = 0;

  // The next write, when there is one for the time. Each must be judged. `pause_usec`: no other write before
  // that has passed since the answer.
  virtual std::optional<HotWrite> BeginWrite(HotTicket* ticket) = 0;
  // `replies`: to what goes before, and last to the command. `version` as above.
  virtual std::string JudgeWrite(const HotTicket& ticket, const HotWrite& write,
                                 const std::vector<Reply>& replies, int64_t pause_usec, int64_t* version) = 0;

  // Its value may be lost with a server: nothing is judged until EndExcuse, which begins anew.
  virtual void Excuse() = 0;
  virtual void EndExcuse() = 0;
};

// A key of any kind whose every version differs from the one before it. Writes one at a time, by any client.
// A version that was read or acknowledged is known; a read that begins afterwards may see no older one.
// Thread: any. Owns: nothing. Limits: the last kVersions versions.
class HotRegister : public HotSubject {
 public:
  HotRegister(HotKind kind, HotNames names, int database, const MoveExcuses* excuses);

  int database() const override { return database_; }
  const HotNames& names() const override { return names_; }
  const std::vector<Command>& reads() const override { return reads_; }
  HotTicket BeginRead() override;
  std::string JudgeRead(const HotTicket& ticket, const Command& command, const Reply& reply,
                        int64_t* version) override;
  std::optional<HotWrite> BeginWrite(HotTicket* ticket) override;
  std::string JudgeWrite(const HotTicket& ticket, const HotWrite& write, const std::vector<Reply>& replies,
                         int64_t pause_usec, int64_t* version) override;
  void Excuse() override;
  void EndExcuse() override;

 private:
  // Lets the key expire, when the time has come.
  void Advance(int64_t now);
  void Know(int64_t version);
  // A write may or may not have been carried out, or may be later.
  void Lose();
  void Note(const std::string& line);
  std::string History() const;

  const HotKind kind_;
  const HotNames names_;
  const int database_;
  const MoveExcuses* const excuses_;
  const std::vector<Command> reads_;

  std::mutex mutex_;
  std::map<int64_t, ModelStore> states_;  // by version, of those that may be seen
  std::string answer_;                    // that the write under way must get
  int64_t sent_ = 0;                      // the last version sent
  int64_t known_ = 0;                     // acknowledged, or read by anyone
  int64_t epoch_ = 0;
  bool excused_ = false;
  bool recovers_ = false;  // excused only until its key has been removed: what it holds is not known
  bool writing_ = false;
  bool begins_anew_ = true;  // the next write removes a key that may hold anything
  int64_t next_write_usec_ = 0;
  // Of the expiry of the last version sent: it may have expired from the first on, and has by the second.
  std::optional<int64_t> may_expire_usec_;
  std::optional<int64_t> has_expired_usec_;
  std::deque<std::string> history_;
};

// A key that everyone increments whenever they like: no one may see less than anyone has seen before.
// Thread: any. Owns: nothing. Limits: none.
class HotCounter : public HotSubject {
 public:
  HotCounter(HotNames names, int database, const MoveExcuses* excuses);

  int database() const override { return database_; }
  const HotNames& names() const override { return names_; }
  const std::vector<Command>& reads() const override { return reads_; }
  HotTicket BeginRead() override;
  std::string JudgeRead(const HotTicket& ticket, const Command& command, const Reply& reply,
                        int64_t* version) override;
  std::optional<HotWrite> BeginWrite(HotTicket* ticket) override;
  std::string JudgeWrite(const HotTicket& ticket, const HotWrite& write, const std::vector<Reply>& replies,
                         int64_t pause_usec, int64_t* version) override;
  void Excuse() override;
  void EndExcuse() override;

 private:
  // `least`: at least so much must it be.
  std::string JudgeValue(const HotTicket& ticket, int64_t least, const std::string& what, const Reply& reply,
                         int64_t* version);

  const HotNames names_;
  const int database_;
  const MoveExcuses* const excuses_;
  const std::vector<Command> reads_;

  std::mutex mutex_;
  int64_t sent_ = 0;
  int64_t known_ = 0;
  int64_t epoch_ = 0;
  bool excused_ = false;
  int64_t next_write_usec_ = 0;
};

}  // namespace ringway::test
