#include "tests/integration/move_unit.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ringway::test {

namespace {

constexpr size_t kMaxWorlds = 200;
constexpr size_t kHistory = 40;
constexpr size_t kShown = 40;  // bytes of an argument

std::string Joined(const Command& command) {
  std::string text;
  for (const std::string& argument : command) {
    text += (text.empty() ? "" : " ") +
            (argument.size() > kShown ? argument.substr(0, kShown) + "..." : argument);
  }
  return text;
}

template <size_t kCount>
bool StartsWithAny(const std::string& text, const std::array<const char*, kCount>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](const char* start) { return text.starts_with(start); });
}

}  // namespace

MoveFate FateOf(const Reply& reply, const MoveExcuses& excuses) {
  static constexpr std::array<const char*, 2> kLost = {"SHARDDOWN", "SHARDTIMEOUT"};
  static constexpr std::array<const char*, 3> kRefused = {"MOVEFAIL", "OOM", "EXECABORT"};
  if (reply.type == 0) {
    const bool closed = reply.text != "timed out" && !reply.text.starts_with("not RESP");
    return closed && excuses.connections ? MoveFate::kUnknown : MoveFate::kWrong;
  }
  if (!reply.IsError()) return MoveFate::kDone;
  if (excuses.lost_answers && StartsWithAny(reply.text, kLost)) return MoveFate::kUnknown;
  if (excuses.refusals && StartsWithAny(reply.text, kRefused)) return MoveFate::kRefused;
  return MoveFate::kDone;
}

MoveUnit::MoveUnit(std::string name, MoveKind kind, uint64_t seed, const MoveExcuses* excuses)
    : name_(std::move(name)), kind_(kind), excuses_(excuses), random_(seed) {}

void MoveUnit::TakeNewKeys() {
  ++generation_;
  worlds_.assign(1, World());
  confused_ = false;
  excused_ = excused_ || excuses_->new_keys;
  lost_.clear();
  first_losing_ = 0;
  Note("new keys " + Prefix());
}

void MoveUnit::EndExcuse() {
  if (!excused_) return;
  excused_ = false;
  TakeNewKeys();
}

void MoveUnit::ForgetOldLosses() {
  const int64_t now = NowUsec();
  const int64_t old = now - excuses_->ghost_life_usec;
  if (lost_.empty() || std::any_of(lost_.begin(), lost_.end(), [&](auto& l) { return l.sent > old; })) return;
  // It may have been carried out since the last answer.
  Spread({now, now});
  lost_.clear();
  std::vector<World> worlds;
  for (World& world : worlds_) {
    world.done.clear();
    if (std::find(worlds.begin(), worlds.end(), world) == worlds.end()) worlds.push_back(std::move(world));
  }
  worlds_ = std::move(worlds);
}

std::vector<Command> MoveUnit::NextPipeline() {
  if (confused_) TakeNewKeys();
  ForgetOldLosses();
  if (confused_ || worlds_.size() > kMaxWorlds) TakeNewKeys();
  first_losing_ = lost_.size();
  std::vector<Command> requests;
  const auto limit = static_cast<uint64_t>(MovePipeline(kind_));
  for (uint64_t left = 1 + random_() % limit; left > 0; --left) {
    MoveStep step = NextMoveStep(kind_, Prefix(), &serial_, &random_);
    if (step.transaction) requests.push_back({"MULTI"});
    requests.insert(requests.end(), step.commands.begin(), step.commands.end());
    if (step.transaction) requests.push_back({"EXEC"});
    sent_.push_back({std::move(step)});
  }
  unanswered_ = requests.size();
  sent_at_ = NowUsec();
  return requests;
}

std::string MoveUnit::Judge(const Reply& reply) {
  --unanswered_;
  Sent& sent = sent_.front();
  const size_t replies = sent.step.transaction ? sent.step.commands.size() + 2 : 1;
  if (++sent.replies < replies) {
    const std::string expected = sent.replies == 1 ? "+OK" : "+QUEUED";
    if (CanonicalReply({""}, reply) == expected) return "";
    sent.failed = true;
    const MoveFate fate = FateOf(reply, *excuses_);
    if (excused_ || fate == MoveFate::kUnknown || fate == MoveFate::kRefused) return "";
    return "not " + expected + " but " + ToText(reply) + "\n" + History();
  }
  const Sent last = std::move(sent);
  sent_.pop_front();
  return JudgeStep(last, reply);
}

std::string MoveUnit::JudgeStep(const Sent& sent, const Reply& reply) {
  const Moment moment = {sent_at_, NowUsec()};
  std::string line;
  for (const Command& command : sent.step.commands) line += (line.empty() ? "" : " | ") + Joined(command);
  Note(std::to_string(sent_at_ / 1000) + "-" + std::to_string(moment.answered / 1000) + " ms  " + line +
       "  ->  " + (reply.type == 0 ? "no reply: " + reply.text : CanonicalReply({""}, reply)));
  if (excused_ || confused_) return "";
  switch (FateOf(reply, *excuses_)) {
    case MoveFate::kWrong:
      return "no answer to " + line + "\n" + History();
    case MoveFate::kRefused:
      if (sent.step.split) Lose(sent.step, moment);
      return "";
    case MoveFate::kUnknown:
      Lose(sent.step, moment);
      return "";
    case MoveFate::kDone:
      break;
  }
  Spread(moment);
  if (confused_) return "";
  return Narrow(sent.step, reply, moment);
}

void MoveUnit::Lose(const MoveStep& step, const Moment& moment) {
  AddLosses(step);
  // It may have been carried out at once, while keys were there that expire soon.
  Spread(moment);
}

void MoveUnit::AddLosses(const MoveStep& step) {
  if (std::all_of(step.commands.begin(), step.commands.end(), IsRead)) return;
  const Command& command = step.commands[0];
  if (!step.split) {
    AddLoss(step.commands);
  } else if (command[0] == "FLUSHDB") {
    for (const std::string& key : Keys()) AddLoss({{"DEL", key}});
  } else if (command[0] == "MSET") {
    for (size_t i = 1; i < command.size(); i += 2) AddLoss({{"SET", command[i], command[i + 1]}});
  } else {
    for (size_t i = 1; i < command.size(); ++i) AddLoss({{"DEL", command[i]}});
  }
}

void MoveUnit::AddLoss(std::vector<Command> commands) {
  Lost lost = {std::move(commands), {}, {}, sent_at_};
  for (const std::string& key : Keys()) {
    const auto names = [&](const Command& command) {
      return std::find(command.begin(), command.end(), key) != command.end();
    };
    if (std::any_of(lost.commands.begin(), lost.commands.end(), names)) lost.keys.push_back(key);
  }
  for (size_t i = first_losing_; i < lost_.size(); ++i) {
    const std::vector<std::string>& keys = lost_[i].keys;
    if (std::find_first_of(keys.begin(), keys.end(), lost.keys.begin(), lost.keys.end()) != keys.end()) {
      lost.after.push_back(i);
    }
  }
  lost_.push_back(std::move(lost));
  for (World& world : worlds_) world.done.push_back(false);
}

void MoveUnit::DecideExpiry(World world, const Moment& moment, std::vector<World>* into) const {
  std::vector<World> open = {std::move(world)};
  for (const std::string& key : Keys()) {
    const size_t count = open.size();
    for (size_t i = 0; i < count; ++i) {
      const auto found = open[i].store.find(key);
      if (found == open[i].store.end() || !found->second.end) continue;
      const Moment end = *found->second.end;
      if (moment.answered < end.sent) continue;
      if (moment.sent <= end.answered + excuses_->transit_usec) open.push_back(open[i]);
      open[i].store.erase(key);
    }
  }
  for (World& each : open) {
    if (std::find(into->begin(), into->end(), each) == into->end()) into->push_back(std::move(each));
  }
}

void MoveUnit::Spread(const Moment& moment) {
  std::vector<World> worlds;
  for (World& world : worlds_) DecideExpiry(std::move(world), moment, &worlds);
  for (size_t i = 0; i < worlds.size(); ++i) {
    confused_ = worlds.size() > 2 * kMaxWorlds;
    if (confused_) return;
    for (size_t q = 0; q < lost_.size(); ++q) {
      const auto is_done = [&](size_t which) { return worlds[i].done[which]; };
      if (is_done(q) || !std::all_of(lost_[q].after.begin(), lost_[q].after.end(), is_done)) continue;
      World next = worlds[i];
      for (const Command& command : lost_[q].commands) {
        ApplyCommand(&next.store, command, {lost_[q].sent, moment.answered}, excuses_->transit_usec);
      }
      next.done[q] = true;
      DecideExpiry(std::move(next), moment, &worlds);
    }
  }
  worlds_ = std::move(worlds);
}

std::string MoveUnit::Narrow(const MoveStep& step, const Reply& reply, const Moment& moment) {
  std::vector<World> fitting;
  std::string expected;
  for (World& world : worlds_) {
    bool fits = !step.transaction || (reply.IsArray() && reply.elements.size() == step.commands.size());
    std::string wanted;
    for (size_t i = 0; i < step.commands.size(); ++i) {
      const ExpectedReply answer =
          ApplyCommand(&world.store, step.commands[i], moment, excuses_->transit_usec);
      wanted +=
          answer.is_range ? std::to_string(answer.least) + ".." + std::to_string(answer.most) : answer.text;
      const Reply& got = step.transaction && fits ? reply.elements[i] : reply;
      fits = fits && Matches(answer, step.commands[i], got);
    }
    expected += "  or  " + wanted;
    if (fits && std::find(fitting.begin(), fitting.end(), world) == fitting.end()) {
      fitting.push_back(std::move(world));
    }
  }
  if (fitting.empty()) {
    const std::string wrong = name_ + ": " + Joined(step.commands[0]) + " answered " +
                              CanonicalReply({""}, reply) + ", expected " + expected.substr(6, 2000) + "\n" +
                              History();
    excused_ = true;  // one fault is told once
    return wrong;
  }
  worlds_ = std::move(fitting);
  return "";
}

void MoveUnit::Note(const std::string& line) {
  history_.push_back(line);
  if (history_.size() > kHistory) history_.pop_front();
}

std::string MoveUnit::History() const {
  std::string text;
  for (const std::string& line : history_) text += "    " + line + "\n";
  return text;
}

}  // namespace ringway::test
