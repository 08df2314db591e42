#include "proxy/control/reply_bytes.h"

#include <string_view>

#include <hiredis/hiredis.h>

namespace ringway::proxy {
namespace {

void AppendLine(char type, std::string_view text, std::string& out) {
  out += type;
  out += text;
  out += "\r\n";
}

}  // namespace

void AppendReply(const redisReply& reply, std::string& out) {
  switch (reply.type) {
    case REDIS_REPLY_STATUS:
      AppendLine('+', {reply.str, reply.len}, out);
      return;
    case REDIS_REPLY_ERROR:
      AppendLine('-', {reply.str, reply.len}, out);
      return;
    case REDIS_REPLY_INTEGER:
      AppendLine(':', std::to_string(reply.integer), out);
      return;
    case REDIS_REPLY_STRING:
      AppendLine('$', std::to_string(reply.len), out);
      out.append(reply.str, reply.len);
      out += "\r\n";
      return;
    case REDIS_REPLY_ARRAY:
      AppendLine('*', std::to_string(reply.elements), out);
      for (size_t i = 0; i < reply.elements; ++i) AppendReply(*reply.element[i], out);
      return;
    default:
      out += "$-1\r\n";
  }
}

}  // namespace ringway::proxy
