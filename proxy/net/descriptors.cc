#include "proxy/net/descriptors.h"

#include <algorithm>

#include <sys/resource.h>

namespace ringway::proxy {

int64_t RaiseDescriptorLimit(int64_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const auto needed = static_cast<rlim_t>(std::max<int64_t>(wanted, 0));
  if (limit.rlim_cur < needed) {
    const rlimit raised{needed, std::max(limit.rlim_max, needed)};
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0) {
      const rlimit within_rights{std::min(needed, limit.rlim_max), limit.rlim_max};
      setrlimit(RLIMIT_NOFILE, &within_rights);
    }
    getrlimit(RLIMIT_NOFILE, &limit);
  }
  return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, INT64_MAX));
}

}  // namespace ringway::proxy
