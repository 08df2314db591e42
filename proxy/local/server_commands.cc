// Small facts about the server that the proxy stands for.
#include "proxy/local/entries.h"
#include "proxy/net/clock.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

using Outcome = RequestHandler::Outcome;

Outcome Time(LocalCall& call) {
  const int64_t now = WallClockUsec();
  call.reply.Array(2);
  call.reply.Bulk(std::to_string(now / 1'000'000));
  call.reply.Bulk(std::to_string(now % 1'000'000));
  return Outcome::kTaken;
}

constexpr LocalEntry kEntries[] = {
    {"time", &Time},
};

}  // namespace

std::span<const LocalEntry> ServerCommands() { return kEntries; }

}  // namespace ringway::proxy
