#pragma once

// Names for clang's thread safety analysis (-Wthread-safety); nothing under other compilers.
// https://clang.llvm.org/docs/ThreadSafetyAnalysis.html

#if defined(__clang__)
#define RINGWAY_ANNOTATION(x) __attribute__((x))
#else
#define RINGWAY_ANNOTATION(x)
#endif

#define CAPABILITY(name) RINGWAY_ANNOTATION(capability(name))
#define SCOPED_CAPABILITY RINGWAY_ANNOTATION(scoped_lockable)
#define GUARDED_BY(x) RINGWAY_ANNOTATION(guarded_by(x))
#define REQUIRES(...) RINGWAY_ANNOTATION(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) RINGWAY_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RELEASE(...) RINGWAY_ANNOTATION(release_capability(__VA_ARGS__))
#define ASSERT_CAPABILITY(x) RINGWAY_ANNOTATION(assert_capability(x))

#include <mutex>

namespace ringway::proxy {

// std::mutex with the annotations that libstdc++ lacks.
class CAPABILITY("mutex") Mutex {
 public:
  void Lock() ACQUIRE() { mutex_.lock(); }
  void Unlock() RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() RELEASE() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace ringway::proxy
