#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/request_view.h"
#include "proxy/client/session_state.h"

namespace ringway::proxy {

// The clients that CLIENT KILL and CLIENT LIST mean; a filter that is not given lets all pass.
struct ClientFilter {
  std::optional<std::string> peer;  // in Redis's form, as CLIENT LIST shows it
  std::optional<std::string> local;
  std::optional<uint64_t> id;
  std::vector<int64_t> ids;  // CLIENT LIST ID, in the order asked for
  bool by_ids = false;
  bool normal = true;  // TYPE: whether ordinary clients are meant, which all are
  bool skip_me = true;

  bool Matches(const SessionState& state) const;
};

// Both take the whole request, and give the error if it is refused.
std::optional<std::string> ParseClientKill(const protocol::RequestView& request, ClientFilter* filter);
std::optional<std::string> ParseClientList(const protocol::RequestView& request, ClientFilter* filter);

}  // namespace ringway::proxy
