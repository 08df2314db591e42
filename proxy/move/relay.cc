#include "proxy/move/relay.h"

#include <utility>

#include "protocol/command_writer.h"
#include "protocol/error_replies.h"
#include "protocol/reply_cursor.h"
#include "proxy/route/request_table.h"
#include "ring/key_hash.h"

namespace ringway::proxy {
namespace {

// MULTI, DUMP, PTTL, EXEC.
constexpr size_t kDumpReplies = 4;

// How soon a key is tried again that the gate kept back.
constexpr int64_t kRetryUsec = 1'000;

// PTTL's answer for a key without an expiry.
constexpr int64_t kNoExpiry = -1;

std::string Label(const Shard& shard) { return shard.config.name + " " + shard.config.address; }

std::string NameOf(const MovePlan& plan, uint32_t db, std::string_view key) {
  std::string name = std::to_string(reinterpret_cast<uintptr_t>(&plan)) + ":" + std::to_string(db) + ":";
  return name.append(key);
}

}  // namespace

class Relay::StepCollector final : public ReplyCollector {
 public:
  StepCollector(Relay& relay, Key& key) : relay_(relay), key_(key) {}

  void OnPart(Request&, uint32_t, const Slice& reply) override { reply_ = reply; }
  bool OnAllParts(Request&) override {
    relay_.OnReply(key_, reply_);
    return true;
  }
  void Finish(Request&, OutputQueue&) override {}

 private:
  Relay& relay_;
  Key& key_;
  Slice reply_;
};

Relay::~Relay() = default;

size_t Relay::WorkerOf(std::string_view key, size_t workers) { return ring::Xxh3(key) % workers; }

void Relay::Move(const std::shared_ptr<const MovePlan>& plan, uint32_t pair, uint32_t db,
                 std::string_view key, Done done) {
  std::unique_ptr<Key>& entry = keys_[NameOf(*plan, db, key)];
  if (entry != nullptr) {
    entry->done.push_back(std::move(done));
    return;
  }
  entry = std::make_unique<Key>(Key{plan, pair, db, std::string(key), Step::kWaiting, 0, false, {}, {}});
  entry->done.push_back(std::move(done));
  waiting_.push_back(entry.get());
  StartNext();
}

void Relay::Close() {
  closed_ = true;
  for (auto& [name, key] : keys_) key->done.clear();
}

void Relay::StartNext() {
  if (closed_) return;
  // A key may fail on the spot, which comes back here.
  if (std::exchange(starting_, true)) return;
  while (under_way_ < kMaxUnderWay && !waiting_.empty()) {
    Key* key = waiting_.front();
    if (!key->plan->figures().gate.BeginBatch(requests_.now_usec())) {
      wake_after_(kRetryUsec);
      break;
    }
    waiting_.pop_front();
    ++under_way_;
    Dump(*key);
  }
  starting_ = false;
}

ShardConnection* Relay::Begin(Key& key, Step step, const Shard& shard, Request** request) {
  ShardConnection* connection = pool_.FirstById(shard.id, key.db, 2);
  if (connection == nullptr || connection->admission() == ShardConnection::Admission::kDown) {
    const bool target = step == Step::kRestore;
    const std::string error =
        connection == nullptr ? "SHARDDOWN " + Label(shard) + " has left the ring" : connection->DownError();
    Fail(key, target ? PullOutcome::Kind::kTargetTrouble : PullOutcome::Kind::kSourceTrouble,
         target ? protocol::MoveFail(error) : error);
    return nullptr;
  }
  key.step = step;
  *request = requests_.NewInternal(CollectorPtr(new StepCollector(*this, key)));
  (*request)->parts_pending = 1;
  return connection;
}

void Relay::Dump(Key& key) {
  Request* request;
  ShardConnection* source = Begin(key, Step::kDump, key.source(), &request);
  if (source == nullptr) return;
  key.asked_usec = requests_.now_usec();
  std::string frames;
  protocol::AppendCommand(frames, {"MULTI"});
  protocol::AppendCommand(frames, {"DUMP", key.key});
  protocol::AppendCommand(frames, {"PTTL", key.key});
  protocol::AppendCommand(frames, {"EXEC"});
  source->SendBatch(request, frames, kDumpReplies);
}

void Relay::OnReply(Key& key, const Slice& reply) {
  const std::string error(protocol::ErrorText(reply.view()));
  switch (key.step) {
    case Step::kWaiting:
    case Step::kDump:
      OnDumped(key, reply);
      return;
    case Step::kRestore:
      if (error.empty()) {
        Delete(key);
      } else {
        key.refused = !error.starts_with("SHARD");
        Fail(key, PullOutcome::Kind::kTargetTrouble,
             protocol::MoveFail(Label(key.target()) + " does not take the key: " + error));
      }
      return;
    case Step::kDelete:
      if (error.empty()) {
        End(key);
      } else {
        Fail(key, PullOutcome::Kind::kSourceTrouble,
             error.starts_with("SHARD") ? error : protocol::MoveFail(error));
      }
      return;
  }
}

void Relay::OnDumped(Key& key, const Slice& exec_reply) {
  protocol::ReplyCursor cursor(exec_reply.view());
  std::string_view dump;
  std::string_view ttl_reply;
  if (cursor.length() != 2 || !cursor.Next(&dump) || !cursor.Next(&ttl_reply) || protocol::IsError(dump)) {
    std::string error(protocol::ErrorText(cursor.length() == 2 ? dump : exec_reply.view()));
    if (!error.starts_with("SHARD")) error = protocol::MoveFail(Label(key.source()) + ": " + error);
    Fail(key, PullOutcome::Kind::kSourceTrouble, error);
    return;
  }
  const auto payload = protocol::BulkOf(dump);
  const int64_t ttl_ms = protocol::IntegerOf(ttl_reply).value_or(kNoExpiry);
  // None, or expired between the two.
  if (!payload.has_value() || ttl_ms < kNoExpiry) {
    End(key);
    return;
  }
  if (ttl_ms == kNoExpiry) {
    Restore(key, exec_reply, *payload, 0);
    return;
  }
  const int64_t passed_ms = (requests_.now_usec() - key.asked_usec + 999) / 1000;
  if (ttl_ms > passed_ms) {
    Restore(key, exec_reply, *payload, ttl_ms - passed_ms);
  } else {
    Delete(key);
  }
}

void Relay::Restore(Key& key, const Slice& reply, std::string_view payload, int64_t ttl_ms) {
  Request* request;
  ShardConnection* target = Begin(key, Step::kRestore, key.target(), &request);
  if (target == nullptr) return;
  key.result.moved = true;
  key.result.bytes = payload.size();
  std::string head;
  protocol::AppendHeader(head, 5);
  protocol::AppendArg(head, "RESTORE");
  protocol::AppendArg(head, key.key);
  protocol::AppendArg(head, std::to_string(ttl_ms));
  head.append("$").append(std::to_string(payload.size())).append("\r\n");
  OutputQueue& out = target->BeginFrame(request, 0);
  out.Append(head);
  out.Append(payload, &reply.block);
  out.Append(std::string_view("\r\n$7\r\nREPLACE\r\n"));
}

void Relay::Delete(Key& key) {
  Request* request;
  ShardConnection* source = Begin(key, Step::kDelete, key.source(), &request);
  if (source == nullptr) return;
  std::string frame;
  protocol::AppendCommand(frame, {"DEL", key.key});
  source->Send(request, 0, frame, nullptr);
}

void Relay::Fail(Key& key, PullOutcome::Kind kind, const std::string& error) {
  key.result = {{kind, error}, false, key.refused, 0};
  End(key);
}

void Relay::End(Key& key) {
  const auto found = keys_.find(NameOf(*key.plan, key.db, key.key));
  const std::unique_ptr<Key> ended = std::move(found->second);
  keys_.erase(found);
  --under_way_;
  ended->plan->figures().gate.EndBatch();
  for (const Done& done : ended->done) done(ended->result);
  StartNext();
}

}  // namespace ringway::proxy
