#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proxy/control/key_mover.h"
#include "proxy/move/move_plan.h"
#include "proxy/net/event_loop.h"
#include "proxy/proxy_state.h"

namespace ringway::proxy {

// The background mover's way to the workers' relays: each key goes to the one worker that moves it, so that
// the mover and the clients' commands keep out of each other's way. Thread: the control loop's. Owns:
// nothing.
class WorkerRelay final : public RelayPort {
 public:
  WorkerRelay(ProxyState& state, EventLoop& loop, std::shared_ptr<const MovePlan> plan);
  // What is under way tells nobody of its end.
  ~WorkerRelay() override;

  void Relay(uint32_t pair, uint32_t db, std::vector<std::string> keys, Done done) override;

 private:
  struct Batch;

  ProxyState& state_;
  EventLoop& loop_;
  const std::shared_ptr<const MovePlan> plan_;
  const std::shared_ptr<bool> alive_;  // read and written on the loop
};

}  // namespace ringway::proxy
