#include "proxy/net/resolver.h"

#include <utility>

namespace ringway::proxy {

Resolver::Resolver(Function look_up) : look_up_(std::move(look_up)), thread_([this] { Run(); }) {}

void Resolver::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Resolver::Resolve(std::string host, uint16_t port, Callback done) {
  {
    const std::lock_guard lock(mutex_);
    questions_.push_back({std::move(host), port, std::move(done)});
  }
  wake_.notify_one();
}

void Resolver::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stop_ || !questions_.empty(); });
    if (stop_) return;
    Question question = std::move(questions_.front());
    questions_.pop_front();
    lock.unlock();
    Answer answer;
    answer.addresses = look_up_(question.host, question.port, &answer.error);
    question.done(std::move(answer));
    lock.lock();
  }
}

}  // namespace ringway::proxy
