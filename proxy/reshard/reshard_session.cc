#include "proxy/reshard/reshard_session.h"

#include <array>
#include <charconv>
#include <cstdio>

#include <unistd.h>

#include "config/values.h"
#include "proxy/reshard/human.h"
#include "proxy/reshard/progress_view.h"
#include "proxy/reshard/ring_preview.h"

namespace ringway::proxy::reshard {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kSettled = 0;
constexpr int kFailed = 1;
constexpr int kNotConfirmed = 2;
constexpr int kInterrupted = 130;  // 128 + SIGINT, as shells say it

// INFO migration asks no shard.
constexpr milliseconds kInfoTimeout{3000};
// PLAN asks all shards, each for as long as the proxy's timeouts.request.
constexpr milliseconds kPlanTimeout{30'000};
// APPLY is answered when the target has been looked at.
constexpr milliseconds kApplyTimeout{60'000};
constexpr milliseconds kLookPeriod{200};
constexpr seconds kLinePeriod{3};
constexpr milliseconds kForAPerson = std::chrono::hours(24);

std::vector<std::string> WithWords(std::vector<std::string> start, const std::vector<std::string>& words) {
  start.insert(start.end(), words.begin(), words.end());
  return start;
}

}  // namespace

int ReshardSession::Run() {
  if (!options_.watch) {
    if (const auto status = Propose()) return *status;
    if (const auto status = Confirm()) return *status;
    if (const auto status = Start()) return *status;
  }
  return Follow();
}

int ReshardSession::Fail(const std::string& words) {
  screen_.Complain(Printable(words));
  return kFailed;
}

int ReshardSession::Refused(const std::string& words) {
  screen_.Complain("refused: " + Printable(words));
  if (words.starts_with("RINGBUSY")) screen_.Complain("watch it: " + WatchHint(options_.proxy));
  return kFailed;
}

std::optional<int> ReshardSession::Propose() {
  const Answer answer = connection_.Ask(WithWords({"RING", "PLAN"}, options_.change), kPlanTimeout);
  if (answer.kind == Answer::Kind::kInterrupted) return kInterrupted;
  if (answer.kind == Answer::Kind::kBroken) {
    return Fail("cannot ask " + options_.proxy.address + ": " + answer.why);
  }
  if (const std::string error = answer.Error(); !error.empty()) return Refused(error);
  const auto preview = ParseRingPreview(*answer.reply);
  if (!preview) return Fail(options_.proxy.address + " answers RING PLAN with something that is no plan");
  for (const std::string& line : DescribePreview(*preview, screen_.Style().width)) screen_.Print(line);
  return std::nullopt;
}

std::optional<int> ReshardSession::Confirm() {
  if (options_.yes) return std::nullopt;
  if (isatty(STDIN_FILENO) == 0 || !screen_.is_terminal()) {
    screen_.Complain("nothing has been moved: there is no terminal to ask on; --yes moves without asking");
    return kNotConfirmed;
  }
  screen_.Ask("move? [y/N] ");
  // A terminal gives whole lines; a longer one is no yes either.
  std::array<char, 256> line;
  ssize_t length = 0;
  if (interrupts_.Wait(STDIN_FILENO, kForAPerson) == Interrupts::Event::kReady) {
    length = read(STDIN_FILENO, line.data(), line.size());
  }
  std::string reply =
      config::Lower(std::string_view(line.data(), length > 0 ? static_cast<size_t>(length) : 0));
  while (!reply.empty() && (reply.back() == '\n' || reply.back() == '\r' || reply.back() == ' '))
    reply.pop_back();
  if (reply == "y" || reply == "yes") return std::nullopt;
  screen_.Print("nothing has been moved");
  return kNotConfirmed;
}

std::optional<int> ReshardSession::Start() {
  const Answer answer = connection_.Ask(WithWords({"RING", "APPLY"}, options_.change), kApplyTimeout);
  if (answer.kind != Answer::Kind::kReply) {
    screen_.Complain(
        "whether the move has begun is not known: " +
        (answer.kind == Answer::Kind::kInterrupted ? std::string("interrupted") : Printable(answer.why)) +
        " before the proxy had answered");
    screen_.Complain("look:  " + WatchHint(options_.proxy));
    return answer.kind == Answer::Kind::kInterrupted ? kInterrupted : kFailed;
  }
  if (const std::string error = answer.Error(); !error.empty()) return Refused(error);
  // "OK 7"
  const std::string_view text = answer.Text();
  uint64_t id = 0;
  if (!text.starts_with("OK ") ||
      std::from_chars(text.data() + 3, text.data() + text.size(), id).ec != std::errc()) {
    return Fail(options_.proxy.address +
                " answers RING APPLY with something that is no move: " + std::string(text));
  }
  follower_ = MoveFollower(id);
  return std::nullopt;
}

int ReshardSession::Follow() {
  last_answer_at_ = Clock::now();
  while (true) {
    const Answer answer = connection_.Ask({"INFO", "migration"}, kInfoTimeout);
    if (answer.kind == Answer::Kind::kInterrupted) return Leave();
    if (const auto status = OnAnswer(answer)) return *status;
    // Nobody reads any more; the move needs no reader.
    if (screen_.failed()) return kFailed;
    if (interrupts_.Wait(-1, kLookPeriod) == Interrupts::Event::kInterrupted) return Leave();
  }
}

std::optional<int> ReshardSession::OnAnswer(const Answer& answer) {
  if (answer.kind == Answer::Kind::kBroken) return OnSilence(answer.why);
  // A proxy that has just been started anew may be short of clients, say.
  if (const std::string error = answer.Error(); !error.empty()) return OnSilence(error);
  const auto snapshot = ParseMoveSnapshot(answer.Text());
  if (!snapshot) return Fail(options_.proxy.address + " says nothing of moves: it is no ringway");
  last_answer_at_ = Clock::now();
  return OnSnapshot(*snapshot);
}

std::optional<int> ReshardSession::OnSnapshot(const MoveSnapshot& snapshot) {
  const double now = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  switch (follower_.Look(snapshot, now)) {
    case MoveFollower::Verdict::kGoesOn:
      if (snapshot.id == *follower_.id()) {
        last_ = snapshot;
        seen_ = true;
        Show("");
      }
      return std::nullopt;
    case MoveFollower::Verdict::kEnded:
      return End(snapshot);
    case MoveFollower::Verdict::kNone:
      screen_.Print("no move is under way");
      if (snapshot.id != 0) screen_.Print("the last one: " + DescribeEnd(snapshot));
      return kSettled;
    case MoveFollower::Verdict::kSucceeded:
      return Fail("move " + std::to_string(*follower_.id()) + " has ended, and how is not known: move " +
                  std::to_string(snapshot.id) + " has begun since. Watch it: " + WatchHint(options_.proxy));
    case MoveFollower::Verdict::kForgotten:
      return Fail("the proxy knows nothing of move " + std::to_string(*follower_.id()) +
                  ": it has been started anew, without the state_file that would have kept the move");
  }
  return std::nullopt;
}

std::optional<int> ReshardSession::OnSilence(const std::string& why) {
  if (!seen_ && options_.watch) return Fail("cannot ask " + options_.proxy.address + ": " + why);
  const auto silent = Clock::now() - last_answer_at_;
  if (silent > seconds(options_.patience_seconds)) {
    return Fail("the proxy has not answered for " +
                HumanDuration(std::chrono::duration<double>(silent).count()) + " (" + why +
                "); how the move stands is not known. Watch it: " + WatchHint(options_.proxy));
  }
  Show("no figures from the proxy (" + why + "); trying again");
  return std::nullopt;
}

void ReshardSession::Show(const std::string& trouble) {
  if (!seen_) {
    last_.id = follower_.id().value_or(0);
    last_.state = "starting";
  }
  if (screen_.is_terminal()) {
    screen_.Draw(DrawFrame(last_, trouble, screen_.Style()));
    return;
  }
  const std::string about = last_.state + last_.pause_reason + (trouble.empty() ? "" : "?");
  const auto now = Clock::now();
  if (about == last_line_about_ && now - last_line_at_ < kLinePeriod) return;
  last_line_about_ = about;
  last_line_at_ = now;
  screen_.Print(trouble.empty() ? DrawLine(last_) : Printable(trouble));
}

int ReshardSession::End(const MoveSnapshot& snapshot) {
  if (screen_.is_terminal()) screen_.Draw(DrawFrame(snapshot, "", screen_.Style()));
  screen_.Print(DescribeEnd(snapshot));
  return OutcomeOf(snapshot) == MoveOutcome::kSettled ? kSettled : kFailed;
}

int ReshardSession::Leave() {
  if (options_.pause_on_exit) {
    const Answer answer = connection_.Ask({"RING", "PAUSE"}, kInfoTimeout);
    if (answer.kind == Answer::Kind::kReply && answer.Error().empty()) {
      screen_.Print("the move is paused, and keys still move when clients ask for them");
      screen_.Print("resume:  " + RedisCliHint(options_.proxy, "RING RESUME"));
      screen_.Print("abort:   " + RedisCliHint(options_.proxy, "RING ABORT"));
      screen_.Print("watch:   " + WatchHint(options_.proxy));
      return kInterrupted;
    }
    screen_.Complain("it could not be paused: " + Printable(answer.Error() + answer.why));
  }
  screen_.Print("the move goes on in the proxy");
  screen_.Print("watch:  " + WatchHint(options_.proxy));
  screen_.Print("pause:  " + RedisCliHint(options_.proxy, "RING PAUSE"));
  screen_.Print("abort:  " + RedisCliHint(options_.proxy, "RING ABORT"));
  return kInterrupted;
}

}  // namespace ringway::proxy::reshard
