#include "proxy/reshard/ring_connection.h"

#include <cstring>
#include <utility>

#include <hiredis/hiredis.h>
#include <sys/time.h>

namespace ringway::proxy::reshard {

namespace {

using std::chrono::milliseconds;

// A proxy is near; and until it is over, Ctrl-C is not noticed.
constexpr timeval kConnectTimeout = {2, 0};
constexpr milliseconds kAuthTimeout{3000};

}  // namespace

void FreeReply::operator()(redisReply* reply) const { freeReplyObject(reply); }
void FreeContext::operator()(redisContext* context) const { redisFree(context); }

std::string Answer::Error() const {
  if (!reply || reply->type != REDIS_REPLY_ERROR) return "";
  return std::string(reply->str, static_cast<size_t>(reply->len));
}

std::string_view Answer::Text() const {
  if (!reply || (reply->type != REDIS_REPLY_STRING && reply->type != REDIS_REPLY_STATUS)) return "";
  return std::string_view(reply->str, static_cast<size_t>(reply->len));
}

Answer RingConnection::Broken(std::string why) {
  context_.reset();
  return {Answer::Kind::kBroken, nullptr, std::move(why)};
}

Answer RingConnection::Open() {
  if (context_) return {Answer::Kind::kReply, nullptr, ""};
  context_.reset(proxy_.is_unix()
                     ? redisConnectUnixWithTimeout(proxy_.path.c_str(), kConnectTimeout)
                     : redisConnectWithTimeout(proxy_.host.c_str(), proxy_.port, kConnectTimeout));
  if (!context_) return Broken("out of memory");
  if (context_->err != 0) return Broken(context_->errstr);
  if (proxy_.password.empty()) return {Answer::Kind::kReply, nullptr, ""};
  std::vector<std::string> auth = {"AUTH"};
  if (!proxy_.user.empty()) auth.push_back(proxy_.user);
  auth.push_back(proxy_.password);
  Answer answer = Exchange(auth, kAuthTimeout);
  if (answer.kind == Answer::Kind::kReply && answer.Error().empty()) answer.reply.reset();
  return answer;
}

Answer RingConnection::Ask(const std::vector<std::string>& words, milliseconds timeout) {
  Answer opened = Open();
  if (opened.kind != Answer::Kind::kReply) return opened;
  if (!opened.Error().empty()) {
    context_.reset();
    return opened;
  }
  return Exchange(words, timeout);
}

Answer RingConnection::Exchange(const std::vector<std::string>& words, milliseconds timeout) {
  std::vector<const char*> texts;
  std::vector<size_t> lengths;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    lengths.push_back(word.size());
  }
  if (redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), lengths.data()) !=
      REDIS_OK) {
    return Broken(context_->errstr);
  }
  for (int done = 0; done == 0;) {
    if (redisBufferWrite(context_.get(), &done) != REDIS_OK) return Broken(context_->errstr);
  }
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    void* reply = nullptr;
    if (redisGetReplyFromReader(context_.get(), &reply) != REDIS_OK) return Broken(context_->errstr);
    if (reply != nullptr) {
      Answer answer;
      answer.kind = Answer::Kind::kReply;
      answer.reply.reset(static_cast<redisReply*>(reply));
      return answer;
    }
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    switch (interrupts_->Wait(context_->fd, left)) {
      case Interrupts::Event::kInterrupted:
        context_.reset();
        return {Answer::Kind::kInterrupted, nullptr, ""};
      case Interrupts::Event::kTimedOut:
        return Broken("no answer in " + std::to_string(timeout.count() / 1000) + " s");
      case Interrupts::Event::kReady:
        if (redisBufferRead(context_.get()) != REDIS_OK) return Broken(context_->errstr);
    }
  }
}

}  // namespace ringway::proxy::reshard
