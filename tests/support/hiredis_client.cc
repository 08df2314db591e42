#include "tests/support/hiredis_client.h"

#include <hiredis/hiredis.h>

namespace ringway::test {

namespace {

Reply Convert(const redisReply& from) {
  Reply reply;
  switch (from.type) {
    case REDIS_REPLY_STATUS:
      reply.type = '+';
      break;
    case REDIS_REPLY_ERROR:
      reply.type = '-';
      break;
    case REDIS_REPLY_INTEGER:
      reply.type = ':';
      reply.integer = from.integer;
      reply.text = std::to_string(from.integer);
      return reply;
    case REDIS_REPLY_NIL:
      reply.type = '$';
      reply.null = true;
      return reply;
    case REDIS_REPLY_ARRAY:
      reply.type = '*';
      for (size_t i = 0; i < from.elements; ++i) reply.elements.push_back(Convert(*from.element[i]));
      return reply;
    default:
      reply.type = '$';
      break;
  }
  reply.text.assign(from.str, from.len);
  return reply;
}

Reply Take(void* raw, const std::string& error) {
  Reply reply;
  if (raw == nullptr) {
    reply.text = error;
    return reply;
  }
  reply = Convert(*static_cast<redisReply*>(raw));
  freeReplyObject(raw);
  return reply;
}

struct Arguments {
  explicit Arguments(const std::vector<std::string>& strings) {
    for (const std::string& string : strings) {
      pointers.push_back(string.data());
      lengths.push_back(string.size());
    }
  }
  std::vector<const char*> pointers;
  std::vector<size_t> lengths;
};

}  // namespace

void HiredisClient::Free::operator()(redisContext* context) const { redisFree(context); }

HiredisClient::HiredisClient(const std::string& address) {
  const timeval patience = {std::chrono::duration_cast<seconds>(kPatience).count(), 0};
  if (address.starts_with("unix:")) {
    context_.reset(redisConnectUnixWithTimeout(address.c_str() + 5, patience));
  } else {
    const size_t colon = address.rfind(':');
    const int port = std::stoi(address.substr(colon + 1));
    context_.reset(redisConnectWithTimeout(address.substr(0, colon).c_str(), port, patience));
  }
  if (connected()) redisSetTimeout(context_.get(), patience);
}

bool HiredisClient::connected() const { return context_ != nullptr && context_->err == 0; }

std::string HiredisClient::error() const { return context_ == nullptr ? "out of memory" : context_->errstr; }

Reply HiredisClient::Command(const std::vector<std::string>& arguments) {
  Arguments converted(arguments);
  void* reply = redisCommandArgv(context_.get(), static_cast<int>(arguments.size()),
                                 converted.pointers.data(), converted.lengths.data());
  return Take(reply, error());
}

void HiredisClient::Append(const std::vector<std::string>& arguments) {
  Arguments converted(arguments);
  redisAppendCommandArgv(context_.get(), static_cast<int>(arguments.size()), converted.pointers.data(),
                         converted.lengths.data());
}

Reply HiredisClient::ReadReply() {
  void* reply = nullptr;
  redisGetReply(context_.get(), &reply);
  return Take(reply, error());
}

}  // namespace ringway::test
