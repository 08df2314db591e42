#pragma once

#include <string_view>

#include "config/config.h"

namespace ringway::proxy {

// Whether two texts are equal, in a time that tells nothing about `secret`, its length included.
bool EqualsSecret(std::string_view given, std::string_view secret);

// Whether a client may come in under this name and password. There is one user, "default"; without
// `requirepass` any password will do, as with Redis's user "nopass".
bool MayEnter(const config::Config& config, std::string_view user, std::string_view password);

}  // namespace ringway::proxy
