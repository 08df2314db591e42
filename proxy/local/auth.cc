#include "proxy/local/auth.h"

namespace ringway::proxy {

bool EqualsSecret(std::string_view given, std::string_view secret) {
  // Always as many steps as the caller's own text has bytes.
  volatile unsigned char difference = given.size() == secret.size() ? 0 : 1;
  const std::string_view other = secret.empty() ? std::string_view("\0", 1) : secret;
  size_t position = 0;
  for (const char c : given) {
    const auto bits = static_cast<unsigned char>(c ^ other[position]);
    difference = static_cast<unsigned char>(difference | bits);
    if (++position == other.size()) position = 0;
  }
  return difference == 0;
}

bool MayEnter(const config::Config& config, std::string_view user, std::string_view password) {
  if (user != "default") return false;
  return config.requirepass.empty() || EqualsSecret(password, config.requirepass);
}

}  // namespace ringway::proxy
