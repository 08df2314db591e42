#pragma once

// CHECK(condition): a broken invariant ends the program with the place and the condition, in every build.
// It guards what this program alone can get wrong, never what a peer sends.

#include <cstdio>
#include <cstdlib>

namespace ringway::proxy {

[[noreturn]] inline void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
  std::abort();
}

}  // namespace ringway::proxy

#define RINGWAY_CHECK(condition)                     \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::ringway::proxy::CheckFailed(__FILE__, __LINE__, #condition))
