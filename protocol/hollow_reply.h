#pragma once

#include <string_view>

namespace ringway::protocol {

// Whether a missing key could have been the reason for a complete reply (RESP2 or RESP3) to a command of
// which CopyCanAnswer is true: nothing in it but nulls, integers up to 0, empty strings, "0" (a cursor),
// "none" (TYPE), false, and empty aggregates; or an error. Anything else proves that the key was there. Looks
// no further than the first proof. Pure.
bool IsHollowReply(std::string_view reply);

}  // namespace ringway::protocol
