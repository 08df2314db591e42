#include "tests/integration/chaos_client.h"

#include <cstdlib>
#include <utility>

namespace ringway::test {

namespace {

constexpr int kKeys = 12;
// Most values are short; some cross the buffers of the proxy.
constexpr size_t kLargeValue = 200000;
constexpr int kLargeEvery = 97;

}  // namespace

std::string ChaosClient::Key(int key) const {
  return "chaos:" + std::to_string(id_) + ":" + std::to_string(key);
}

std::string ChaosClient::Value(int key, int64_t serial) const {
  std::string value = Key(key) + "=" + std::to_string(serial) + ";";
  if (serial % kLargeEvery == 0) value.append(kLargeValue, static_cast<char>('a' + serial % 26));
  return value;
}

Command ChaosClient::Next() {
  const auto pick = [this] { return static_cast<int>(random_() % kKeys); };
  Expected expected;
  Command command;
  const int key = pick();
  switch (random_() % 8) {
    case 0:
    case 1:
      expected.kind = Kind::kOk;
      command = {"SET", Key(key), Value(key, ++serial_)};
      break;
    case 2: {
      expected.kind = Kind::kOk;
      command = {"MSET"};
      for (int i = 0; i < 3; ++i) {
        const int other = pick();
        command.insert(command.end(), {Key(other), Value(other, ++serial_)});
      }
      break;
    }
    case 3:
      expected.kind = Kind::kValues;
      command = {"MGET"};
      for (int i = 0; i < 4; ++i) expected.keys.push_back(pick());
      for (const int other : expected.keys) command.push_back(Key(other));
      break;
    case 4:
      expected.kind = Kind::kEcho;
      expected.text = Key(key) + "?" + std::to_string(++serial_);
      command = {"ECHO", expected.text};
      break;
    case 5:
      expected.kind = Kind::kCount;
      expected.most = 2;
      command = {random_() % 4 == 0 ? "DEL" : "EXISTS", Key(key), Key(pick())};
      break;
    default:
      expected.kind = Kind::kValue;
      expected.keys = {key};
      command = {"GET", Key(key)};
  }
  expected.latest = serial_;
  expected_.push_back(std::move(expected));
  return command;
}

std::string ChaosClient::JudgeValue(const Reply& reply, int key, int64_t latest) const {
  if (reply.null) return "";
  const std::string start = Key(key) + "=";
  if (reply.type != '$' || !reply.text.starts_with(start)) return "a value of another key";
  const int64_t serial = std::atoll(reply.text.c_str() + start.size());
  if (serial < 1 || serial > latest) return "a value that was not written yet";
  return reply.text == Value(key, serial) ? "" : "a value that is damaged";
}

std::string ChaosClient::Judge(const Reply& reply) {
  if (expected_.empty()) return "an answer to nothing: " + ToText(reply);
  const Expected expected = std::move(expected_.front());
  expected_.pop_front();
  ++answers_;
  std::string wrong;
  if (reply.type == 0) {
    wrong = "no answer";
  } else if (reply.IsError()) {
    ++errors_;
    const bool excused = reply.text.starts_with("SHARDDOWN ") || reply.text.starts_with("SHARDTIMEOUT ");
    if (!excused || expected.kind == Kind::kEcho) wrong = "an error that no lost shard explains";
  } else if (expected.kind == Kind::kOk) {
    if (!reply.IsOk()) wrong = "not OK";
  } else if (expected.kind == Kind::kEcho) {
    if (reply.type != '$' || reply.text != expected.text) wrong = "not the echo of " + expected.text;
  } else if (expected.kind == Kind::kCount) {
    if (reply.type != ':' || reply.integer < 0 || reply.integer > expected.most) wrong = "not such a number";
  } else if (expected.kind == Kind::kValue) {
    wrong = JudgeValue(reply, expected.keys[0], expected.latest);
  } else {
    if (reply.type != '*' || reply.elements.size() != expected.keys.size()) wrong = "not so many values";
    for (size_t i = 0; wrong.empty() && i < expected.keys.size(); ++i) {
      wrong = JudgeValue(reply.elements[i], expected.keys[i], expected.latest);
    }
  }
  if (wrong.empty()) return "";
  return "client " + std::to_string(id_) + " got " + wrong + ": " + ToText(reply);
}

}  // namespace ringway::test
