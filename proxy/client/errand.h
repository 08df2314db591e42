#pragma once

#include <cstdint>
#include <string>

#include "proxy/client/client_session.h"

namespace ringway::proxy {

// A command that no client waits for, executed as if one did: routed, held and pulled for like any other. Its
// reply is thrown away. Thread: one worker. Owns: its session.
class Errand final : public ClientHost {
 public:
  Errand(SessionEnvironment& environment, uint32_t db, std::string frame);
  ~Errand() override;

  void Run();
  bool done() const { return done_; }
  ClientSession& session() { return session_; }

  void Flush() override;
  void CloseSoon() override { done_ = true; }
  void Resume() override;

 private:
  void Feed();

  SessionEnvironment& environment_;
  ClientSession session_;
  std::string frame_;
  bool done_ = false;
};

}  // namespace ringway::proxy
