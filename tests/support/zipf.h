// Keys as they come in caches: the i-th most frequent of n comes in proportion to i^-exponent.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace ringway::test {

class Zipf {
 public:
  Zipf(size_t n, double exponent) {
    double sum = 0;
    for (size_t i = 1; i <= n; ++i) below_.push_back(sum += std::pow(static_cast<double>(i), -exponent));
    for (double& value : below_) value /= sum;
  }

  // 0 is the most frequent.
  template <typename Random>
  size_t operator()(Random& random) const {
    const double at = std::uniform_real_distribution<double>(0, 1)(random);
    const auto found = std::upper_bound(below_.begin(), below_.end(), at);
    return std::min(static_cast<size_t>(found - below_.begin()), below_.size() - 1);
  }

 private:
  std::vector<double> below_;
};

}  // namespace ringway::test
