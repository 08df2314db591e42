#pragma once

#include <memory>

#include "proxy/local/gather.h"

namespace ringway::proxy {

// A client's request that another thread answers, at once or after a while; the client waits, and may go.
// Copies stand for the same request. If all are gone and none was answered, the thread has ended, and the
// request is answered with an error. Thread: made on the request's worker, the rest on any one thread.
class PendingReply {
 public:
  // Stands for nobody: what is answered is lost.
  PendingReply() = default;
  explicit PendingReply(LocalCall& call);

  // Once. `write` runs on the request's worker.
  void Answer(Gathering::Finish write);
  void Ok(std::string text = "OK");
  // With its code word.
  void Error(std::string text);
  void Integer(int64_t value);

 private:
  struct State {
    std::shared_ptr<Gathering::Finish> write;
    std::unique_ptr<Gathering::Part> part;
  };
  std::shared_ptr<State> state_;
};

}  // namespace ringway::proxy
