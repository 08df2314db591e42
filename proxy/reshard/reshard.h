// `ringway reshard`: a change of the shards from the plan to the settled move, on a terminal or in a log.
#pragma once

namespace ringway::proxy::reshard {

// argv[0] is the name of the sub-command. Gives the exit status: 0 settled, 1 refused, failed or aborted, 2
// wrong use or not confirmed, 130 interrupted. The move itself is the proxy's: it goes on whatever becomes of
// this process.
int RunReshard(int argc, const char* const* argv);

}  // namespace ringway::proxy::reshard
