#include "proxy/control/info_values.h"

#include <algorithm>

#include "protocol/number_text.h"

namespace ringway::proxy {

std::string_view InfoValue(std::string_view info, std::string_view name) {
  for (size_t at = info.find(name); at != std::string_view::npos; at = info.find(name, at + 1)) {
    const bool begins_line = at == 0 || info[at - 1] == '\n';
    const std::string_view rest = info.substr(at + name.size());
    if (begins_line && rest.starts_with(':')) return rest.substr(1, rest.find_first_of("\r\n") - 1);
  }
  return {};
}

std::vector<KeyspaceLine> ReadKeyspace(std::string_view info) {
  constexpr std::string_view kKeys = ":keys=";
  std::vector<KeyspaceLine> lines;
  while (!info.empty()) {
    const size_t end = std::min(info.find_first_of("\r\n"), info.size());
    const std::string_view line = info.substr(0, end);
    info.remove_prefix(std::min(end + 1, info.size()));
    const size_t keys_at = line.find(kKeys);
    if (!line.starts_with("db") || keys_at == std::string_view::npos) continue;
    const std::string_view rest = line.substr(keys_at + kKeys.size());
    const auto database = protocol::ParseInt64(line.substr(2, keys_at - 2));
    const auto keys = protocol::ParseInt64(rest.substr(0, rest.find(',')));
    if (database && keys) lines.push_back({static_cast<uint32_t>(*database), static_cast<uint64_t>(*keys)});
  }
  return lines;
}

}  // namespace ringway::proxy
