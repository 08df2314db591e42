#include "config/address.h"

#include <algorithm>

#include "config/values.h"

namespace ringway::config {

namespace {

constexpr std::string_view kUnixPrefix = "unix:";
constexpr size_t kMaxShardNameBytes = 128;

bool IsHostName(std::string_view host) {
  return !host.empty() && host.size() <= kMaxHostBytes && std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  });
}

// Hexadecimal groups, a dotted tail and a zone: whether it is an address the resolver says at start.
bool LooksLikeV6(std::string_view host) {
  const std::string_view digits = host.substr(0, host.find('%'));
  const std::string_view zone = digits.size() == host.size() ? "" : host.substr(digits.size() + 1);
  if (digits.size() != host.size() && !IsHostName(zone)) return false;
  return std::count(digits.begin(), digits.end(), ':') >= 2 && digits.size() <= 45 &&
         digits.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

ParsedAddress Refused(std::string error) { return {{}, std::move(error)}; }

ParsedAddress ParseUnixPath(std::string_view path) {
  if (path.empty() || path.front() != '/') return Refused("expected an absolute path after unix:");
  if (path.size() > kMaxSocketPathBytes) {
    return Refused("the path of a unix socket has at most " + std::to_string(kMaxSocketPathBytes) + " bytes");
  }
  const bool printable = std::all_of(
      path.begin(), path.end(), [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; });
  if (!printable) return Refused("the path of a unix socket holds no blanks or control characters here");
  return {{ListenAddress::Kind::kUnix, "", 0, std::string(path)}, ""};
}

ParsedAddress ParseAddress(std::string_view text, int64_t min_port) {
  if (text.substr(0, kUnixPrefix.size()) == kUnixPrefix)
    return ParseUnixPath(text.substr(kUnixPrefix.size()));
  if (!text.empty() && text.front() == '/')
    return Refused("a unix socket is written as unix:" + std::string(text));

  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return Refused("expected host:port, [v6]:port or unix:/path");
  std::string_view host = text.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    if (!LooksLikeV6(host)) return Refused("expected an IPv6 address between [ and ]");
  } else if (host.find(':') != std::string_view::npos) {
    return Refused("an IPv6 address is written as [address]:port");
  } else if (!IsHostName(host)) {
    return Refused("expected a host name or an IP address before the port");
  }
  const auto port = ParseInteger(text.substr(colon + 1));
  if (!port || *port < min_port || *port > 65535) {
    return Refused("expected a port from " + std::to_string(min_port) + " to 65535 after the last colon");
  }
  return {{ListenAddress::Kind::kTcp, std::string(host), static_cast<uint16_t>(*port), ""}, ""};
}

}  // namespace

std::string ListenAddress::ToString() const {
  if (kind == Kind::kUnix) return std::string(kUnixPrefix) + path;
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

ParsedAddress ParseListenAddress(std::string_view text) { return ParseAddress(text, 0); }

std::optional<std::string> ParseShardAddress(std::string_view text, ShardConfig* shard) {
  ParsedAddress parsed = ParseAddress(text, 1);
  if (!parsed.error.empty()) return std::move(parsed.error);
  shard->address = parsed.address.ToString();
  shard->host = std::move(parsed.address.host);
  shard->port = parsed.address.port;
  shard->path = std::move(parsed.address.path);
  return std::nullopt;
}

std::optional<std::string> CheckShardName(std::string_view name) {
  const bool fits =
      !name.empty() && name.size() <= kMaxShardNameBytes && std::all_of(name.begin(), name.end(), [](char c) {
        return c > 0x20 && c < 0x7f && c != ',' && c != '=' && c != '*';
      });
  if (fits) return std::nullopt;
  return "expected a name of 1 to 128 printable ASCII characters without blanks, commas, = and *";
}

}  // namespace ringway::config
