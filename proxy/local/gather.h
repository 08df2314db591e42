#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "protocol/reply_writer.h"
#include "proxy/local/local_commands.h"
#include "proxy/proxy_state.h"
#include "proxy/route/request.h"
#include "proxy/worker.h"

namespace ringway::proxy {

// A request that waits for all workers. It is answered once every Part has gone, whether its task ran or was
// thrown away with a loop that had ended, so that a stop never leaves it waiting. Thread: made and answered
// on the home worker; parts end on any. Owns: nothing; the request belongs to its table, which outlives its
// client.
class Gathering : public std::enable_shared_from_this<Gathering> {
 public:
  using Finish = std::function<void(protocol::ReplyWriter& reply)>;

  class Part {
   public:
    explicit Part(std::shared_ptr<Gathering> gathering) : gathering_(std::move(gathering)) {}
    ~Part() { gathering_->EndPart(); }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    std::shared_ptr<Gathering> gathering_;
  };

  // `request` is one of `home`'s, under way; it waits for one part more. `parts`: how many workers, at
  // least 1.
  Gathering(Worker& home, Request& request, size_t parts, Finish finish);

 private:
  void EndPart();
  void Answer();

  Worker& home_;
  Request& request_;
  const Finish finish_;
  std::atomic<size_t> left_;
};

// Runs `ask` on every worker's own thread, then `finish` at home with the answers, by index of the worker; a
// worker that has ended leaves a T{}. The client may have gone by then.
template <typename T>
void Gather(Worker& home, Request& request, std::function<T(Worker&)> ask,
            std::function<void(std::vector<T>& answers, protocol::ReplyWriter& reply)> finish) {
  static_assert(!std::is_same_v<T, bool>, "elements of vector<bool> share bytes");
  const std::vector<Worker*>& workers = home.state().workers;
  auto answers = std::make_shared<std::vector<T>>(workers.size());
  auto gathering = std::make_shared<Gathering>(
      home, request, workers.size(),
      [answers, finish = std::move(finish)](protocol::ReplyWriter& reply) { finish(*answers, reply); });
  const auto shared_ask = std::make_shared<std::function<T(Worker&)>>(std::move(ask));
  for (size_t i = 0; i < workers.size(); ++i) {
    auto part = std::make_shared<Gathering::Part>(gathering);
    workers[i]->Post([worker = workers[i], i, answers, shared_ask, part = std::move(part)] {
      (*answers)[i] = (*shared_ask)(*worker);
    });
  }
}

// The same for a command that has just come.
template <typename T>
RequestHandler::Outcome Gather(
    LocalCall& call, std::function<T(Worker&)> ask,
    std::function<void(std::vector<T>& answers, protocol::ReplyWriter& reply)> finish) {
  Gather<T>(call.worker, *call.session.NewRequest(call.row.id), std::move(ask), std::move(finish));
  return RequestHandler::Outcome::kTaken;
}

// Answers when all that was posted to the workers before has been done.
RequestHandler::Outcome AnswerWhenAllHaveIt(LocalCall& call, Gathering::Finish finish);
// The same for a request that is under way, as one part more.
void AnswerWhenAllHaveIt(Worker& home, Request& request, Gathering::Finish finish);

}  // namespace ringway::proxy
