// hiredis as a test client.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/resp_reply.h"
#include "tests/support/test_environment.h"

struct redisContext;

namespace ringway::test {

// hiredis behind the interface of the other test clients: what a C program would see. RESP2.
// Thread: one at a time. Owns: its connection. Limits: calls end within the patience of a test.
class HiredisClient {
 public:
  // `address` as HOST:PORT or unix:PATH.
  explicit HiredisClient(const std::string& address);

  bool connected() const;
  // Why the last call failed; empty when it did not.
  std::string error() const;

  // A Reply of type 0 with the reason when the connection is broken.
  Reply Command(const std::vector<std::string>& arguments);
  // Queue a command, and read the replies in order.
  void Append(const std::vector<std::string>& arguments);
  Reply ReadReply();

 private:
  struct Free {
    void operator()(redisContext* context) const;
  };
  std::unique_ptr<redisContext, Free> context_;
};

}  // namespace ringway::test
