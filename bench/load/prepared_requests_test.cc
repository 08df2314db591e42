// Loads whose keys do not come alike.
#include "bench/load/prepared_requests.h"

#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace ringway::bench {
namespace {

constexpr int kRequests = 50'000;

// How often each key comes.
std::map<std::string, double> SharesOf(const LoadOptions& options) {
  PreparedRequests requests(options);
  std::map<std::string, double> shares;
  for (int i = 0; i < kRequests; ++i) {
    const std::string_view request = requests.NextBatch();
    shares[std::string(request.substr(request.find("key:"), 16))] += 1.0 / kRequests;
  }
  return shares;
}

TEST(PreparedRequests, TheHotKeyComesAsOftenAsOthers) {
  LoadOptions options;
  options.gets = 1;
  options.sets = 0;
  options.keys = 100;
  options.hot = 0.9;
  const auto shares = SharesOf(options);
  EXPECT_NEAR(shares.at("key:000000000000"), 0.901, 0.01);
  EXPECT_NEAR(shares.at("key:000000000001"), 0.001, 0.0008);
  EXPECT_EQ(shares.size(), 100U);
}

TEST(PreparedRequests, RanksOfZipfHaveOtherShares) {
  LoadOptions options;
  options.gets = 1;
  options.sets = 0;
  options.keys = 1000;
  options.zipf = 1.2;
  double sum = 0;
  for (int i = 1; i <= 1000; ++i) sum += std::pow(i, -1.2);
  const auto shares = SharesOf(options);
  EXPECT_NEAR(shares.at("key:000000000000"), 1 / sum, 0.01);
  EXPECT_NEAR(shares.at("key:000000000009"), std::pow(10, -1.2) / sum, 0.003);
}

}  // namespace
}  // namespace ringway::bench
