#pragma once

#include <cstdint>
#include <string>

namespace ringway::proxy {

// What one connection has agreed on with the proxy, and what CLIENT LIST says of it.
struct SessionState {
  enum class ReplyMode : uint8_t { kOn, kOff, kSkipNext };
  // What makes a client's requests go another way than everybody's; bits of `modes`.
  enum Mode : uint8_t {
    kInTransaction = 1u << 0,  // between MULTI and EXEC
    kSubscribed = 1u << 1,
    kTracking = 1u << 2,
    kMonitoring = 1u << 3,
    // Has a request on a connection of its own: what comes behind it waits for the reply.
    kAwaitsReply = 1u << 4,
    // That, and the server may keep it waiting.
    kBlocked = 1u << 5,
  };

  uint64_t id = 0;
  uint32_t db = 0;
  uint8_t resp = 2;
  uint8_t modes = 0;
  bool authenticated = false;
  bool no_evict = false;
  bool no_touch = false;
  ReplyMode reply_mode = ReplyMode::kOn;
  uint16_t last_command_id = 0;
  bool has_last_command = false;
  int fd = -1;
  std::string user = "default";
  std::string name;
  std::string lib_name;
  std::string lib_version;
  std::string peer_address;
  std::string local_address;
  int64_t connected_usec = 0;
  int64_t last_active_usec = 0;
  uint64_t commands = 0;
};

}  // namespace ringway::proxy
