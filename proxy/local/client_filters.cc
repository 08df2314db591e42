#include "proxy/local/client_filters.h"

#include "protocol/error_replies.h"
#include "protocol/number_text.h"
#include "proxy/local/client_list.h"
#include "proxy/words.h"

namespace ringway::proxy {
namespace {

using protocol::RequestView;

std::string SyntaxError() { return std::string(protocol::kSyntaxError); }

// All of the proxy's clients are of the type "normal".
std::optional<std::string> ParseType(std::string_view type, ClientFilter* filter) {
  filter->normal = IsWord(type, "normal");
  if (filter->normal) return std::nullopt;
  for (const std::string_view other : {"slave", "replica", "pubsub", "master"}) {
    if (IsWord(type, other)) return std::nullopt;
  }
  return "ERR Unknown client type '" + std::string(UpToNul(type)) + "'";
}

std::optional<std::string> ParseKillOption(std::string_view option, std::string_view value,
                                           ClientFilter* filter) {
  if (IsWord(option, "id")) {
    const std::optional<int64_t> id = protocol::ParseInt64(value);
    if (!id.has_value() || *id < 1) return "ERR client-id should be greater than 0";
    filter->id = static_cast<uint64_t>(*id);
  } else if (IsWord(option, "type")) {
    return ParseType(value, filter);
  } else if (IsWord(option, "addr")) {
    filter->peer = value;
  } else if (IsWord(option, "laddr")) {
    filter->local = value;
  } else if (IsWord(option, "user")) {
    if (value != "default") return "ERR No such user '" + std::string(UpToNul(value)) + "'";
  } else if (IsWord(option, "skipme")) {
    filter->skip_me = IsWord(value, "yes");
    if (!filter->skip_me && !IsWord(value, "no")) return SyntaxError();
  } else {
    return SyntaxError();
  }
  return std::nullopt;
}

}  // namespace

bool ClientFilter::Matches(const SessionState& state) const {
  return normal && (!id.has_value() || *id == state.id) && (!peer.has_value() || *peer == ShownPeer(state)) &&
         (!local.has_value() || *local == ShownLocal(state));
}

std::optional<std::string> ParseClientKill(const RequestView& request, ClientFilter* filter) {
  if (request.size() == 3) {
    // The old form names an address, the caller's too.
    filter->peer = request[2];
    filter->skip_me = false;
    return std::nullopt;
  }
  for (size_t i = 2; i < request.size(); i += 2) {
    if (i + 1 == request.size()) return SyntaxError();
    if (auto error = ParseKillOption(request[i], request[i + 1], filter)) return error;
  }
  return std::nullopt;
}

std::optional<std::string> ParseClientList(const RequestView& request, ClientFilter* filter) {
  if (request.size() == 2) return std::nullopt;
  if (request.size() == 4 && IsWord(request[2], "type")) return ParseType(request[3], filter);
  if (request.size() < 4 || !IsWord(request[2], "id")) return SyntaxError();
  filter->by_ids = true;
  for (size_t i = 3; i < request.size(); ++i) {
    const std::optional<int64_t> id = protocol::ParseInt64(request[i]);
    if (!id.has_value()) return "ERR Invalid client ID";
    filter->ids.push_back(*id);
  }
  return std::nullopt;
}

}  // namespace ringway::proxy
