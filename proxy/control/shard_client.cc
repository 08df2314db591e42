#include "proxy/control/shard_client.h"

#include <utility>

#include "protocol/command_writer.h"
#include "protocol/reply_cursor.h"
#include "proxy/shard/shard_problems.h"

namespace ringway::proxy {

std::string_view ShardClient::Answer::operator[](size_t index) const {
  const size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(bytes_).substr(begin, ends_[index] - begin);
}

std::string_view ShardClient::Answer::FirstError() const {
  for (size_t i = 0; i < size(); ++i) {
    if (protocol::IsError((*this)[i])) return protocol::ErrorText((*this)[i]);
  }
  return {};
}

ShardClient::ShardClient(ControlLinks& links, Shard shard, uint32_t db, int64_t timeout_usec)
    : links_(links),
      shard_(std::move(shard)),
      db_(db),
      timeout_usec_(timeout_usec),
      link_(links.loop, links.resolver) {
  link_.set_user(this);
  timer_.Assign(links_.loop.base(), -1, 0, &ShardClient::OnTimer, this);
}

ShardClient::~ShardClient() { Close(); }

void ShardClient::Do(std::initializer_list<std::string_view> command, Done done) {
  std::string frame;
  protocol::AppendCommand(frame, command);
  DoFrame(frame, 1, std::move(done));
}

void ShardClient::DoFrame(std::string_view frame, size_t replies, Done done, int64_t timeout_usec) {
  calls_.push_back({std::string(frame), replies, timeout_usec == 0 ? timeout_usec_ : timeout_usec,
                    std::move(done), Answer()});
  if (state_ == State::kReady) {
    SendWaiting();
  } else if (state_ == State::kClosed) {
    // In the loop's next turn: a connect can fail on the spot, and must not call back from here.
    timer_.AddTimeout(0);
  }
}

void ShardClient::UseDatabase(uint32_t db) {
  if (db == db_) return;
  Close();
  db_ = db;
}

void ShardClient::Close() {
  NoteLoss();
  timer_.Remove();
  link_.Close();
  state_ = State::kClosed;
  handshake_.reset();
  calls_.clear();
  sent_ = 0;
}

void ShardClient::Connect() {
  state_ = State::kConnecting;
  timer_.AddTimeout(timeout_usec_);
  link_.Connect(shard_.config);
}

void ShardClient::OnConnected() {
  state_ = State::kGreeting;
  number_ = NextConnectionNumber();
  std::string name = links_.name_prefix;
  if (!name.empty()) name += std::to_string(number_);
  handshake_.emplace(shard_.config, db_, uint8_t{2}, name);
  link_.SendFrame(handshake_->request(), handshake_->replies());
}

// Commands follow only once the connection's name is known to the server: a fence goes by it.
void ShardClient::OnReply(std::string_view reply) {
  if (state_ == State::kGreeting) {
    const Handshake::Verdict verdict = handshake_->OnBytes(reply);
    if (verdict == Handshake::Verdict::kRefused) {
      Fail(std::string(handshake_->problem()));
    } else if (verdict == Handshake::Verdict::kReady) {
      state_ = State::kReady;
      handshake_.reset();
      SendWaiting();
    }
    return;
  }
  if (sent_ == 0) {
    Fail(kSpeaksNoRedis);
    return;
  }
  Call& call = calls_.front();
  call.answer.bytes_ += reply;
  call.answer.ends_.push_back(call.answer.bytes_.size());
  if (call.answer.size() < call.replies) return;
  const Call answered = std::move(call);
  calls_.pop_front();
  --sent_;
  ArmTimer();
  answered.done(answered.answer);
}

void ShardClient::OnLost(std::string_view problem) { Fail(problem); }

void ShardClient::SendWaiting() {
  for (; sent_ < calls_.size(); ++sent_) {
    Call& call = calls_[sent_];
    link_.SendFrame(call.frame, call.replies);
    call.frame.clear();
    if (sent_ == 0) timer_.AddTimeout(call.timeout_usec);
  }
}

// Of the call whose turn it is: those behind it have their time when it is theirs.
void ShardClient::ArmTimer() {
  timer_.Remove();
  if (sent_ > 0) timer_.AddTimeout(calls_.front().timeout_usec);
}

void ShardClient::OnTimer(evutil_socket_t, short, void* argument) {
  auto* self = static_cast<ShardClient*>(argument);
  self->links_.loop.NoteWake();
  self->timer_.NoteFired();
  if (self->state_ == State::kClosed) {
    self->Connect();
  } else {
    self->Fail(self->state_ == State::kConnecting ? "is unreachable: connect timed out" : kDoesNotAnswer);
  }
}

void ShardClient::Fail(std::string_view problem) {
  std::deque<Call> failed;
  const std::string text(problem);
  NoteLoss();
  failed.swap(calls_);
  Close();
  // One of them may destroy this object, and with it nothing that is used here.
  const std::weak_ptr<ShardClient*> alive = self_;
  for (Call& call : failed) {
    if (alive.expired()) return;
    Answer answer;
    answer.problem = text;
    call.done(answer);
  }
}

void ShardClient::NoteLoss() {
  if (state_ == State::kReady && sent_ > 0) links_.lost.Add(shard_.id, number_);
  sent_ = 0;
}

}  // namespace ringway::proxy
