// The version as `--version` and INFO give it; its one source is project() in CMakeLists.txt.
#ifndef RINGWAY_CONFIG_VERSION_H_
#define RINGWAY_CONFIG_VERSION_H_

#include <string_view>

namespace ringway::config {

extern const std::string_view kVersion;

}  // namespace ringway::config

#endif  // RINGWAY_CONFIG_VERSION_H_
