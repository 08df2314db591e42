#include "tests/sim/move_sim_client.h"

#include "protocol/reply_cursor.h"
#include "protocol/reply_scanner.h"

namespace ringway::proxy {
namespace {

constexpr uint64_t kSharedKeys = 12;
constexpr uint64_t kGroups = 3;

// What a request that runs into a move, or into a server's death, may be answered.
bool IsExcuse(std::string_view reply) {
  for (const std::string_view word : {"-SHARDDOWN ", "-SHARDTIMEOUT ", "-MOVEFAIL ", "-OOM "}) {
    if (reply.starts_with(word)) return true;
  }
  return false;
}

std::string Quoted(const std::vector<std::string>& request) {
  std::string text;
  for (const std::string& arg : request) text += " " + arg;
  return text;
}

}  // namespace

MoveSimClient::MoveSimClient(SessionEnvironment& environment, uint64_t id, Random& random, bool expiries)
    : random_(random),
      id_(id),
      expiries_(expiries),
      prefix_("own" + std::to_string(id) + ":"),
      client_(environment, id) {
  client_.session().state().db = static_cast<uint32_t>(Below(2));
  client_.session().state().resp = Below(3) == 0 ? 3 : 2;
}

std::string MoveSimClient::OwnKey() { return prefix_ + "s" + std::to_string(Below(4)); }
std::string MoveSimClient::OwnCounter() { return prefix_ + "n" + std::to_string(Below(3)); }

void MoveSimClient::AddRequest() {
  const uint64_t dice = Below(10);
  Send(dice < 6 ? OwnRequest() : dice < 9 ? SharedRequest() : GroupRequest());
}

void MoveSimClient::Send(const Request& request) {
  unsent_ += Command(request);
  expected_.push_back(request);
}

MoveSimClient::Request MoveSimClient::OwnRequest() {
  const std::string value = std::to_string(id_) + "." + std::to_string(next_value_++);
  switch (Below(9)) {
    case 0:
    case 1:
      return {"set", OwnKey(), value};
    case 2:
      return {"incr", OwnCounter()};
    case 3:
      return {"append", OwnKey(), value};
    case 4:
      return Below(2) == 0 ? Request{"del", OwnKey()} : Request{"del", OwnCounter()};
    case 5:
      return {"mget", OwnKey(), OwnKey(), OwnCounter()};
    case 6:
      return {"mset", OwnKey(), value, OwnKey(), value + "m"};
    case 7:
      return {"ping"};
    default:
      return Below(2) == 0 ? Request{"get", OwnKey()} : Request{"get", OwnCounter()};
  }
}

MoveSimClient::Request MoveSimClient::SharedRequest() {
  const auto key = [this] { return "shared" + std::to_string(Below(kSharedKeys)); };
  const std::string value = std::to_string(id_) + "." + std::to_string(next_value_++);
  switch (Below(9)) {
    case 0:
      if (!expiries_) return {"exists", key()};
      return {"set", key(), value, "px", std::to_string(1 + Below(3000))};
    case 1:
      return {"set", key(), value};
    case 2:
      return {"append", key(), value};
    case 3:
      return {"del", key(), key()};
    case 4:
      if (!expiries_) return {"set", key(), value};
      return {"pexpire", key(), std::to_string(1 + Below(3000))};
    case 5:
      return {"pttl", key()};
    case 6:
      return {"mget", key(), key(), key(), key()};
    case 7:
      return {"incr", "count" + std::to_string(Below(kSharedKeys))};
    default:
      return {"get", key()};
  }
}

// Keys of one tag.
MoveSimClient::Request MoveSimClient::GroupRequest() {
  const std::string tag = "{group" + std::to_string(Below(kGroups)) + "}";
  const auto key = [&] { return tag + "s" + std::to_string(Below(3)); };
  const auto counter = [&] { return tag + "n" + std::to_string(Below(2)); };
  switch (Below(6)) {
    case 0:
      return {"rename", key(), tag + "renamed"};
    case 1:
      return {"copy", key(), tag + "copied", "db", std::to_string(Below(2)), "replace"};
    case 2:
      return {"move", key(), client_.session().state().db == 0 ? "1" : "0"};
    case 3:
      return {"eval", "return adds()", "2", tag + "n0", tag + "n1"};
    case 4:
      return {"incr", counter()};
    default:
      return {"set", key(), std::to_string(next_value_++)};
  }
}

void MoveSimClient::SendSome() {
  const size_t wanted = Below(3) == 0 ? unsent_.size() : Below(unsent_.size() + 1);
  const size_t piece = 1 + Below(Below(2) == 0 ? 10 : 10'000);
  unsent_.erase(0, client_.Send(std::string_view(unsent_).substr(0, wanted), piece));
}

void MoveSimClient::SendAll() { unsent_.erase(0, client_.Send(unsent_)); }

std::string MoveSimClient::Check() {
  const std::string received = client_.Take();
  protocol::ReplyScanner scanner;
  size_t begin = 0;
  while (begin < received.size()) {
    const auto result = scanner.Scan(std::string_view(received).substr(begin));
    const std::string reply = received.substr(begin, result.consumed);
    begin += result.consumed;
    if (result.status != protocol::ParseStatus::kComplete) return "a client received half a reply: " + reply;
    if (expected_.empty()) return "a client received what it did not ask for: " + reply;
    const Request request = std::move(expected_.front());
    expected_.pop_front();
    ++replies_;
    const std::string problem = CheckReply(request, reply);
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string MoveSimClient::CheckReply(const Request& request, const std::string& reply) {
  if (IsExcuse(reply)) {
    ++errors_;
    Forget(request);
    return request[0] == "ping" ? "PING failed: " + reply : "";
  }
  if (request[0] == "ping") return reply == "+PONG\r\n" ? "" : "PING got " + reply;
  if (request.size() > 1 && request[1].starts_with(prefix_)) return CheckOwn(request, reply);
  if (reply.starts_with("-") && !(request[0] == "rename" && reply == "-ERR no such key\r\n")) {
    return "a client got " + reply + "to" + Quoted(request);
  }
  return "";
}

// A write that has failed may have been carried out, wholly or in part.
void MoveSimClient::Forget(const Request& request) {
  if (request[0] == "get" || request[0] == "mget") return;
  for (size_t i = 1; i < request.size(); ++i) {
    if (request[i].starts_with(prefix_)) own_[request[i]] = std::nullopt;
  }
}

// Compares a bulk with what the key must be, and remembers it.
std::string MoveSimClient::Expect(const std::string& key, const std::string& reply) {
  const auto text = protocol::BulkOf(reply);
  const std::optional<std::string> value = text ? std::optional<std::string>(*text) : std::nullopt;
  // Before its first request nobody has written it.
  const auto found = own_.find(key);
  const Known known = found == own_.end() ? Known(std::optional<std::string>()) : found->second;
  own_[key] = value;
  if (!known || *known == value) return "";
  return "client " + std::to_string(id_) + " read " + value.value_or("nothing") + " instead of " +
         known->value_or("nothing") + " from " + key;
}

std::string MoveSimClient::CheckOwn(const Request& request, const std::string& reply) {
  const std::string& name = request[0];
  const std::string& key = request[1];
  if (name == "get") return Expect(key, reply);
  if (name == "mget") {
    protocol::ReplyCursor cursor(reply);
    std::string problem;
    std::string_view element;
    for (size_t i = 1; i < request.size() && problem.empty(); ++i) {
      if (!cursor.Next(&element)) return "a short reply to MGET: " + reply;
      problem = Expect(request[i], std::string(element));
    }
    return problem;
  }
  if (name == "set" || name == "mset") {
    for (size_t i = 1; i + 1 < request.size(); i += 2) own_[request[i]] = std::optional(request[i + 1]);
    return reply == "+OK\r\n" ? "" : "a client got " + reply + "to" + Quoted(request);
  }
  const Known known = own_.contains(key) ? own_[key] : Known(std::optional<std::string>());
  std::string wanted;
  if (name == "incr") {
    if (known) wanted = std::to_string(std::stoll(known->value_or("0")) + 1);
    own_[key] = std::optional(reply.substr(1, reply.size() - 3));
  } else if (name == "append") {
    if (!known) return "";
    own_[key] = known->value_or("") + request[2];
    wanted = std::to_string((*own_[key])->size());
  } else {
    if (known) wanted = known->has_value() ? "1" : "0";
    own_[key] = std::optional<std::string>();
  }
  if (wanted.empty() || reply == ":" + wanted + "\r\n") return "";
  return "client " + std::to_string(id_) + " got " + reply + "instead of " + wanted + " to" + Quoted(request);
}

}  // namespace ringway::proxy
