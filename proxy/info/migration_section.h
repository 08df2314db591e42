#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proxy/control/migration_board.h"

namespace ringway::proxy {

// The fields of `# Migration`, which RING STATUS answers too: names, and values that hold no line end.
std::vector<std::pair<std::string, std::string>> MigrationFields(const MigrationBoard& board);

}  // namespace ringway::proxy
