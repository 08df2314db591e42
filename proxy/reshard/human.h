// Figures as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringway::proxy::reshard {

// "1,234,567"
std::string HumanCount(uint64_t count);
// "512 B", "1.5 KiB", "61.2 MiB"
std::string HumanBytes(uint64_t bytes);
// "0.4s", "7s", "12s", "1m 12s", "3h 05m", "2d 04h"; negative counts as 0.
std::string HumanDuration(double seconds);
// "350us", "3.1ms", then as HumanDuration.
std::string HumanUsec(uint64_t usec);
// 0.4234 as "42.3%". What is not quite all is never shown as 100.0%, so that a bar does not seem stuck at its
// end.
std::string HumanPercent(double fraction);

// Text that a server chose, for a terminal: what is not printable ASCII becomes '?', so that it cannot steer
// the terminal.
std::string Printable(std::string_view text);

}  // namespace ringway::proxy::reshard
