#include "config/version.h"

namespace ringway::config {

const std::string_view kVersion = RINGWAY_VERSION;

}  // namespace ringway::config
