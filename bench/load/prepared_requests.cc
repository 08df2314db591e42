#include "bench/load/prepared_requests.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

namespace ringway::bench {
namespace {

constexpr std::size_t kMaxRequests = 65536;
// So many that rare keys come in their right proportions, too.
constexpr std::size_t kMaxZipfRequests = 1u << 19;
constexpr std::size_t kMaxBytes = 32u << 20;
constexpr std::size_t kMinBatches = 8;

// redis-benchmark's names, so that the two tools meet the same keys.
std::string KeyName(std::size_t index) {
  char name[32];
  const int length = std::snprintf(name, sizeof name, "key:%012zu", index);
  return std::string(name, static_cast<std::size_t>(length));
}

class Renderer {
 public:
  explicit Renderer(const LoadOptions& options)
      : options_(options), random_(options.seed), value_(options.value_size, 'x') {
    if (options.zipf <= 0) return;
    double sum = 0;
    for (std::size_t i = 1; i <= options.keys; ++i) {
      sum += std::pow(static_cast<double>(i), -options.zipf);
      zipf_sums_.push_back(sum);
    }
  }

  void Append(std::size_t index, std::string* out) {
    switch (options_.command) {
      case LoadCommand::kPing:
      case LoadCommand::kConnect:
        AppendArray(1, out);
        return AppendBulk("PING", out);
      case LoadCommand::kFill:
        return AppendKeys("SET", 1, true, index, out);
      case LoadCommand::kMGet:
        return AppendKeys("MGET", options_.keys_per_command, false, RandomKey(), out);
      case LoadCommand::kMSet:
        return AppendKeys("MSET", options_.keys_per_command, true, RandomKey(), out);
      case LoadCommand::kGetSet:
        if (random_() % (options_.gets + options_.sets) < options_.sets)
          return AppendKeys("SET", 1, true, RandomKey(), out);
        return AppendKeys("GET", 1, false, RandomKey(), out);
    }
  }

 private:
  std::size_t RandomKey() {
    if (zipf_sums_.empty()) {
      const bool hot = options_.hot > 0 && Fraction() < options_.hot;
      return hot ? 0 : random_() % options_.keys;
    }
    const auto found = std::upper_bound(zipf_sums_.begin(), zipf_sums_.end(), Fraction() * zipf_sums_.back());
    return std::min(static_cast<std::size_t>(found - zipf_sums_.begin()), options_.keys - 1);
  }

  double Fraction() { return std::uniform_real_distribution<double>()(random_); }

  void AppendKeys(std::string_view name, std::size_t keys, bool values, std::size_t first, std::string* out) {
    AppendArray(1 + keys * (values ? 2 : 1), out);
    AppendBulk(name, out);
    for (std::size_t i = 0; i < keys; ++i) {
      AppendBulk(KeyName(i == 0 ? first : RandomKey()), out);
      if (values) AppendBulk(value_, out);
    }
  }

  const LoadOptions& options_;
  std::mt19937_64 random_;
  const std::string value_;
  std::vector<double> zipf_sums_;  // of all keys up to each
};

}  // namespace

PreparedRequests::PreparedRequests(const LoadOptions& options) {
  Renderer renderer(options);
  const bool fill = options.command == LoadCommand::kFill;
  const std::size_t wanted = fill ? options.keys : options.zipf > 0 ? kMaxZipfRequests : kMaxRequests;
  const std::size_t least = fill ? options.keys : kMinBatches * options.pipeline;
  std::size_t rendered = 0;
  while (rendered < least || (rendered < wanted && bytes_.size() < kMaxBytes)) {
    for (std::size_t i = 0; i < options.pipeline; ++i, ++rendered) {
      renderer.Append(rendered % options.keys, &bytes_);
    }
    batch_ends_.push_back(bytes_.size());
  }
}

std::string_view PreparedRequests::NextBatch() {
  const std::size_t begin = next_ == 0 ? 0 : batch_ends_[next_ - 1];
  const std::size_t end = batch_ends_[next_];
  next_ = next_ + 1 == batch_ends_.size() ? 0 : next_ + 1;
  return std::string_view(bytes_).substr(begin, end - begin);
}

void PreparedConversation::OnScalar(char type, std::string_view text) {
  if (type != '-') return;
  ++tally_->errors;
  if (tally_->first_error.empty()) tally_->first_error = text;
}

}  // namespace ringway::bench
