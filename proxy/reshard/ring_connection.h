// Questions to a proxy.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "proxy/reshard/interrupts.h"

struct redisContext;
struct redisReply;

namespace ringway::proxy::reshard {

struct FreeReply {
  void operator()(redisReply* reply) const;
};
struct FreeContext {
  void operator()(redisContext* context) const;
};

// What came of a question.
struct Answer {
  enum class Kind {
    kReply,        // an error reply is one too
    kBroken,       // no connection, or no reply in time: `why` says it
    kInterrupted,  // by a signal; the reply is lost
  };

  Kind kind = Kind::kBroken;
  std::unique_ptr<redisReply, FreeReply> reply;
  std::string why;

  // The text of an error reply; empty when it is none.
  std::string Error() const;
  // Of a string; empty when it is none.
  std::string_view Text() const;
};

// A connection to the proxy that is opened, and opened again, when there is something to ask.
// Thread: one. Owns: the connection. Limits: one question at a time.
class RingConnection {
 public:
  RingConnection(const config::ShardConfig& proxy, Interrupts* interrupts)
      : proxy_(proxy), interrupts_(interrupts) {}

  // After anything but a reply the connection is closed, so that no late reply is taken for another's.
  Answer Ask(const std::vector<std::string>& words, std::chrono::milliseconds timeout);

 private:
  // Connects and authenticates unless it has; kReply without a reply when it is there.
  Answer Open();
  Answer Exchange(const std::vector<std::string>& words, std::chrono::milliseconds timeout);
  Answer Broken(std::string why);

  const config::ShardConfig proxy_;
  Interrupts* const interrupts_;
  std::unique_ptr<redisContext, FreeContext> context_;
};

}  // namespace ringway::proxy::reshard
