// Small facts about the server that the proxy stands for, and what it answers as a server without cluster
// support.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "protocol/error_replies.h"
#include "protocol/number_text.h"
#include "proxy/local/entries.h"
#include "proxy/net/clock.h"
#include "proxy/redis_version.h"
#include "proxy/words.h"
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

// A master without replicas.
Outcome Role(LocalCall& call) {
  call.reply.Array(3);
  call.reply.Bulk("master");
  call.reply.Integer(0);
  call.reply.Array(0);
  return Outcome::kTaken;
}

Outcome AclWhoAmI(LocalCall& call) {
  call.reply.Bulk(call.session.state().user);
  return Outcome::kTaken;
}

Outcome NoCluster(LocalCall& call) {
  call.reply.Error("ERR This instance has cluster support disabled");
  return Outcome::kTaken;
}

// The ring as it is seen from above, each shard's first point marked by its number.
std::string DrawRing(const Topology& topology) {
  constexpr int kRows = 13;
  constexpr int kColumns = 27;
  std::vector<std::string> canvas(kRows, std::string(kColumns, ' '));
  const auto put = [&canvas](double turn, char c) {
    const double angle = turn * 2 * std::numbers::pi;
    const auto row = static_cast<size_t>(std::lround((kRows - 1) / 2.0 * (1 - std::cos(angle))));
    const auto column = static_cast<size_t>(std::lround((kColumns - 1) / 2.0 * (1 + std::sin(angle))));
    canvas[row][column] = c;
  };
  for (int step = 0; step < 80; ++step) put(step / 80.0, '.');
  const size_t shards = topology.shards.size();
  const size_t shown = std::min<size_t>(shards, 16);
  for (size_t i = 0; i < shown; ++i) {
    put(static_cast<double>(i) / static_cast<double>(shown), "0123456789abcdef"[i]);
  }
  std::string text;
  for (std::string& line : canvas) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text + "\n" + std::to_string(shards) + " shards, one ring. ";
}

// LOLWUT [VERSION n] and whatever a version's drawing would take.
Outcome Lolwut(LocalCall& call) {
  if (call.request.size() >= 3 && IsWord(call.request[1], "version") &&
      !protocol::ParseInt64(call.request[2]).has_value()) {
    call.reply.Error(protocol::kNotInteger);
    return Outcome::kTaken;
  }
  call.reply.Verbatim(DrawRing(call.worker.router().topology()) + "Redis ver. " + std::string(kRedisVersion) +
                      "\n");
  return Outcome::kTaken;
}

constexpr LocalEntry kEntries[] = {
    {"time", &Time},        {"role", &Role},          {"acl|whoami", &AclWhoAmI}, {"lolwut", &Lolwut},
    {"asking", &NoCluster}, {"readonly", &NoCluster}, {"readwrite", &NoCluster},
};

// CLUSTER's subcommands, HELP included, are all refused alike.
std::vector<LocalEntry> MakeEntries() {
  std::vector<LocalEntry> entries(std::begin(kEntries), std::end(kEntries));
  for (const protocol::CommandRow& row : protocol::Subcommands(*protocol::FindCommand("cluster"))) {
    entries.push_back({row.name, &NoCluster});
  }
  return entries;
}

}  // namespace

std::span<const LocalEntry> ServerCommands() {
  static const std::vector<LocalEntry> entries = MakeEntries();
  return entries;
}

}  // namespace ringway::proxy
