#pragma once

#include <string>

struct redisReply;

namespace ringway::proxy {

// Writes hiredis's tree back as the RESP2 it was read from, since everything else here reads replies as
// bytes. Thread: any. Limits: hiredis builds trees of at most nine levels.
void AppendReply(const redisReply& reply, std::string& out);

}  // namespace ringway::proxy
