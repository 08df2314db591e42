#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/load/conversation.h"
#include "bench/load/options.h"
#include "bench/load/tally.h"

namespace ringway::bench {

// A client that owns its keys, never writes the same value twice, and judges every reply: right shape,
// own value, of this key, and neither older than the last acknowledged write nor newer than the last
// one sent. So a reply meant for another client, another key or an earlier request cannot pass.
//
// A write that was answered by an error may or may not have happened; both are accepted afterwards.
// After a lost connection the client moves on to fresh keys, because the old ones are in doubt.
//
// Thread: one.
// Owns: two numbers for each of its keys, one batch, what is expected for it.
// Limits: one batch is in flight at a time; values shorter than their label are sent as the label.
class VerifiedConversation : public Conversation {
 public:
  // `run` makes keys and values differ from those of any other run; `client` from any other client.
  VerifiedConversation(const LoadOptions& options, std::string_view run, std::size_t client, Tally* tally);

  std::string_view NextBatch() override;
  void ConnectionLost() override;

  void OnScalar(char type, std::string_view text) override;
  void OnNull() override;
  void OnArray(uint64_t elements) override;
  void OnBulkBegin(uint64_t length) override;
  void OnBulkBytes(std::string_view part) override;
  void OnBulkEnd() override;
  void OnReplyEnd() override;

 private:
  enum class Kind { kGet, kMGet, kWrite, kPing };
  struct Part {
    std::size_t key;
    uint64_t newest;  // number of the last write sent before (get) or of this write
  };
  struct Expected {
    Kind kind;
    std::size_t first_part;
    std::size_t parts;
  };
  struct KeyState {
    uint64_t sent = 0;          // number of the last write sent, 0: none
    uint64_t acknowledged = 0;  // number of the last write known to have happened
  };

  void AppendCommand();
  void AppendKeyed(Kind kind, std::string_view name, std::size_t keys);
  std::string KeyName(std::size_t key) const;
  std::string Value(std::size_t key, uint64_t number) const;
  const Part* NextPart();
  void JudgeValue(const Part& part);
  void Wrong(std::string_view expected, std::string_view got);

  const LoadOptions& options_;
  const std::string label_;
  Tally* const tally_;
  std::mt19937_64 random_;
  std::vector<KeyState> keys_;
  uint64_t generation_ = 0;
  uint64_t writes_ = 0;

  std::string batch_;
  std::vector<Expected> expected_;
  std::vector<Part> parts_;
  std::size_t reply_ = 0;    // index into expected_
  std::size_t element_ = 0;  // values seen within the reply
  bool array_seen_ = false;
  bool failed_ = false;  // the reply is an error
  std::string value_;
};

}  // namespace ringway::bench
