#include "proxy/control/worker_relay.h"

#include <utility>

#include "proxy/move/relay.h"
#include "proxy/worker.h"

namespace ringway::proxy {

// Keys that were asked for together; touched on the control loop alone.
struct WorkerRelay::Batch {
  size_t left;
  Done done;
  Outcome outcome = {};

  void Take(const ringway::proxy::Relay::Result& result) {
    if (result.moved) ++outcome.moved;
    outcome.bytes += result.bytes;
    if (!result.outcome.error.empty()) {
      outcome.refused = (outcome.problem.empty() || outcome.refused) && result.refused;
      // What concerns more than the key says more.
      if (outcome.problem.empty() || !result.refused) outcome.problem = result.outcome.error;
    }
    if (--left == 0) done(outcome);
  }
};

WorkerRelay::WorkerRelay(ProxyState& state, EventLoop& loop, std::shared_ptr<const MovePlan> plan)
    : state_(state), loop_(loop), plan_(std::move(plan)), alive_(std::make_shared<bool>(true)) {}

WorkerRelay::~WorkerRelay() { *alive_ = false; }

void WorkerRelay::Relay(uint32_t pair, uint32_t db, std::vector<std::string> keys, Done done) {
  const auto batch = std::make_shared<Batch>(Batch{keys.size(), std::move(done)});
  std::vector<std::vector<std::string>> by_worker(state_.workers.size());
  for (std::string& key : keys) {
    by_worker[ringway::proxy::Relay::WorkerOf(key, by_worker.size())].push_back(std::move(key));
  }
  for (size_t i = 0; i < by_worker.size(); ++i) {
    if (by_worker[i].empty()) continue;
    state_.workers[i]->PostRelay(
        plan_, pair, db, std::move(by_worker[i]),
        [loop = &loop_, alive = alive_, batch](const ringway::proxy::Relay::Result& result) {
          loop->Post([alive, batch, result] {
            if (*alive) batch->Take(result);
          });
        });
  }
}

}  // namespace ringway::proxy
