#pragma once

#include <cstdint>
#include <string>

#include "proxy/client/session_state.h"

namespace ringway::proxy {

class ClientSession;

// What CLIENT LIST says of a client that its SessionState does not hold.
struct ClientFacts {
  std::string_view command = "NULL";  // full name of the latest one
  uint64_t input_bytes = 0;           // read and not parsed
  uint64_t input_memory = 0;          // the block they stand in
  uint64_t output_bytes = 0;          // replies not yet taken
  bool reading = true;
  bool writing = false;
  int64_t queued = -1;  // commands since MULTI; -1: there was none
  bool dirty = false;   // EXEC will answer nil
};

ClientFacts FactsOf(const ClientSession& session);

// Appends a client's line without its end: Redis 7.0's fields in their order, then those of 7.2 where the
// client told its library. What the proxy does not have is 0; output counts as omem. `now_usec`: of the
// monotonic clock.
void AppendClientLine(const SessionState& state, const ClientFacts& facts, int64_t now_usec,
                      std::string& out);

// The client's addresses in Redis's form: "127.0.0.1:6380", "[::1]:6380", "/run/ringway.sock:0".
std::string ShownPeer(const SessionState& state);
std::string ShownLocal(const SessionState& state);

}  // namespace ringway::proxy
