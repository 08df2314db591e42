// The control side's parts on a loop of their own, against real servers.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "config/address.h"
#include "proxy/control/shard_client.h"
#include "proxy/move/move_plan.h"
#include "proxy/topology.h"
#include "tests/support/redis_server.h"

namespace ringway::test {

// A loop on a thread of its own. Thread: one test. Owns: loop, resolver, thread.
class ControlLoop {
 public:
  ControlLoop() : links_{loop_, resolver_, "ringway:p1:", "ringway:p1:run1:", {}} {
    thread_ = std::thread([this] { loop_.Run([] {}); });
  }
  ~ControlLoop() {
    loop_.PostStop();
    thread_.join();
    resolver_.Stop();
  }

  proxy::ControlLinks& links() { return links_; }

  // Runs `task` on the loop and waits for it.
  template <typename Task>
  auto Do(Task task) {
    using Result = decltype(task());
    auto promise = std::make_shared<std::promise<Result>>();
    std::future<Result> result = promise->get_future();
    loop_.Post([promise, task = std::move(task)]() mutable {
      if constexpr (std::is_void_v<Result>) {
        task();
        promise->set_value();
      } else {
        promise->set_value(task());
      }
    });
    return result.get();
  }

 private:
  proxy::EventLoop loop_;
  proxy::Resolver resolver_;
  proxy::ControlLinks links_;
  std::thread thread_;
};

inline proxy::Shard ShardAt(uint32_t id, const std::string& name, const std::string& address) {
  proxy::Shard shard{id, {}};
  shard.config.name = name;
  config::ParseShardAddress(address, &shard.config);
  return shard;
}

inline std::shared_ptr<const proxy::MovePlan> PlanOf(const std::vector<proxy::Shard>& from,
                                                     const std::vector<proxy::Shard>& to,
                                                     config::Mover mover = config::Mover::kMigrate) {
  const ring::RingOptions options;
  return std::make_shared<const proxy::MovePlan>(1, from, proxy::RingOf(from, options), to,
                                                 proxy::RingOf(to, options), std::vector<uint32_t>{}, mover);
}

}  // namespace ringway::test
