#include "tests/integration/hot_client.h"

#include <algorithm>
#include <utility>

namespace ringway::test {

namespace {
constexpr size_t kSubjectsInRound = 3;
constexpr size_t kMostReads = 3;  // of one key in a pipeline, before a write and after it
// One pipeline of reads in so many is left behind with its connection.
constexpr size_t kHangUp = 300;
// A proxy that is away is not asked again at once.
constexpr milliseconds kRetry{10};
// Reads may be ahead of writes by so many where both are to be as many.
constexpr int64_t kAhead = 50;
}  // namespace

HotClient::HotClient(int id, int database, HotChecker* checker)
    : id_(id), database_(database), checker_(checker), random_(TestRandom(static_cast<uint64_t>(id) + 1)()) {
  for (const auto& subject : checker->subjects_) {
    if (subject->database() == database) subjects_.push_back(subject.get());
  }
}

bool HotClient::Connected() {
  if (connection_.socket().open()) return true;
  connection_ = RespClient(checker_->options_.address);
  Reply reply;
  if (connection_.socket().open()) {
    if (id_ % 2 == 1) connection_.Do({"HELLO", "3"});
    reply = connection_.Do({"SELECT", std::to_string(database_)});
  }
  if (reply.IsOk()) return true;
  if (!checker_->excuses_.connections) checker_->Complain("cannot connect: " + ToText(reply));
  connection_.socket().Close();
  Eventually([] { return false; }, kRetry);
  return false;
}

int64_t HotClient::Pause() {
  if (Pick(static_cast<size_t>(checker_->options_.burst)) > 0) return 0;
  return static_cast<int64_t>(Pick(static_cast<size_t>(checker_->options_.pause_usec) + 1));
}

void HotClient::AddRead(HotSubject* subject, std::string* bytes) {
  if (checker_->options_.half_writes && checker_->reads_ > checker_->writes_ + kAhead) return;
  Command read = subject->reads()[Pick(subject->reads().size())];
  *bytes += EncodeCommand(read);
  awaited_.push_back({subject, subject->BeginRead(), false, {}, std::move(read)});
}

bool HotClient::AddWrite(HotSubject* subject, std::string* bytes) {
  HotTicket ticket;
  const std::optional<HotWrite> write = subject->BeginWrite(&ticket);
  if (!write) return false;
  // Reads before it in this pipeline must not see it. Versions of counters are not foretold.
  for (Awaited& earlier : awaited_) {
    if (earlier.subject == subject && write->version > 0) {
      earlier.ticket.most = std::min(earlier.ticket.most, write->version - 1);
    }
  }
  for (const Command& command : write->before) *bytes += EncodeCommand(command);
  *bytes += EncodeCommand(write->command);
  awaited_.push_back({subject, ticket, true, *write, {}});
  return true;
}

void HotClient::SendRound() {
  awaited_.clear();
  if (!Connected()) return;
  std::string bytes;
  for (size_t i = 0; i < kSubjectsInRound; ++i) {
    HotSubject* subject = subjects_[Pick(subjects_.size())];
    for (size_t left = Pick(kMostReads + 1); left > 0; --left) AddRead(subject, &bytes);
    if (Pick(2) == 0 && !AddWrite(subject, &bytes)) continue;
    for (size_t left = Pick(kMostReads + 1); left > 0; --left) AddRead(subject, &bytes);
  }
  if (!bytes.empty()) connection_.socket().Send(bytes);
}

std::vector<Reply> HotClient::ReadReplies(const Awaited& awaited) {
  std::vector<Reply> replies;
  for (size_t left = 1 + (awaited.is_write ? awaited.write.before.size() : 0); left > 0; --left) {
    replies.push_back(connection_.Read(broken_ ? milliseconds(0) : kPatience));
    broken_ = broken_ || replies.back().type == 0;
    if (replies.back().type == 0 || replies.back().IsError()) ++checker_->lost_answers_;
  }
  return replies;
}

std::string HotClient::Judge(const Awaited& awaited, const std::vector<Reply>& replies) {
  int64_t& seen = seen_[awaited.subject];
  HotTicket ticket = awaited.ticket;
  ticket.in_pipeline = seen > ticket.least;
  ticket.least = std::max(ticket.least, seen);
  if (!awaited.is_write) {
    ++checker_->reads_;
    int64_t version = 0;
    const std::string wrong = awaited.subject->JudgeRead(ticket, awaited.read, replies.back(), &version);
    if (checker_->options_.reads_in_order) seen = std::max(seen, version);
    return wrong;
  }
  checker_->writes_ += static_cast<int64_t>(replies.size());
  return awaited.subject->JudgeWrite(ticket, awaited.write, replies, Pause(), &seen);
}

bool HotClient::HangsUp() {
  const bool writes = std::any_of(awaited_.begin(), awaited_.end(), [](const auto& a) { return a.is_write; });
  return !writes && Pick(kHangUp) == 0;
}

void HotClient::Collect() {
  if (HangsUp()) {
    connection_.socket().Close();
    return;
  }
  seen_.clear();
  broken_ = false;
  for (const Awaited& awaited : awaited_) {
    const std::string wrong = Judge(awaited, ReadReplies(awaited));
    if (!wrong.empty()) checker_->Complain("client " + std::to_string(id_) + ": " + wrong);
  }
  if (broken_) connection_.socket().Close();
}

}  // namespace ringway::test
