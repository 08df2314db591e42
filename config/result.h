// Result<T>: a value, or everything that is wrong with the text it was to be read from.
#ifndef RINGWAY_CONFIG_RESULT_H_
#define RINGWAY_CONFIG_RESULT_H_

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ringway::config {

// One mistake. A person reads it, so `what` says what was expected and what was found.
struct Problem {
  std::string where;  // "ringway.yaml:12" or "--shard"; empty when no single place is at fault
  std::string what;

  std::string ToString() const { return where.empty() ? what : where + ": " + what; }
  bool operator==(const Problem&) const = default;
};

using Problems = std::vector<Problem>;

// A value with its warnings, or at least one problem. Start-up and reload use it; the data path never does.
template <class T>
class Result {
 public:
  Result(T value, Problems warnings = {}) : value_(std::move(value)), warnings_(std::move(warnings)) {}
  static Result Failure(Problems problems, Problems warnings = {}) {
    assert(!problems.empty());
    Result failure;
    failure.problems_ = std::move(problems);
    failure.warnings_ = std::move(warnings);
    return failure;
  }

  bool ok() const { return value_.has_value(); }

  // Only when ok().
  const T& value() const& {
    assert(ok());
    return *value_;
  }
  T&& value() && {
    assert(ok());
    return std::move(*value_);
  }

  // Empty when ok().
  const Problems& problems() const { return problems_; }
  // What works but is likely not meant; also filled when not ok().
  const Problems& warnings() const { return warnings_; }

 private:
  Result() = default;

  std::optional<T> value_;
  Problems problems_;
  Problems warnings_;
};

}  // namespace ringway::config

#endif  // RINGWAY_CONFIG_RESULT_H_
