#include "tests/unit/ring/golden_file.h"

#include <cstdio>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace ringway::ring {
namespace {

void ParseKetama(const std::string& line, GoldenFile& golden) {
  const std::string title = line.substr(7, line.find("  ", 7) - 7);
  GoldenKetama& result = golden.ketama[title.substr(0, title.find(" points"))];
  std::istringstream points(line.substr(line.find("points ") + 7));
  points >> result.points;

  const size_t first = line.find("first points: ") + 14;
  const size_t per_server = line.find("per-server: ");
  std::istringstream pairs(line.substr(first, per_server - first));
  for (std::string pair; pairs >> pair;) {
    const size_t arrow = pair.find("->");
    result.first_points.emplace_back(std::stoull(pair.substr(0, arrow)), std::stoul(pair.substr(arrow + 2)));
  }
  std::istringstream counts(line.substr(per_server + 12));
  for (uint32_t count; counts >> count;) result.points_per_server.push_back(count);
  result.owner_of_user_1000 = std::stoul(line.substr(line.rfind("->") + 2));
}

void ParseShortCounts(const std::string& line, GoldenFile& golden) {
  std::istringstream words(line.substr(line.find("160: ") + 5));
  for (std::string word; words >> word && word != "total";) {
    uint32_t servers = 0;
    uint32_t points = 0;
    if (std::sscanf(word.c_str(), "%u(%u)", &servers, &points) == 2) golden.short_counts[servers] = points;
  }
  words >> golden.short_counts_total;
}

void ParseRange(const std::string& line, GoldenFile& golden) {
  char name[32];
  GoldenRange range;
  const int fields = std::sscanf(line.c_str(),
                                 "RANGE %31s ketama10 max/mean %lf min/mean %lf servers used %d | modula10 "
                                 "max/mean %lf min/mean %lf",
                                 name, &range.ketama_max, &range.ketama_min, &range.ketama_servers_used,
                                 &range.modula_max, &range.modula_min);
  ASSERT_EQ(fields, 6) << line;
  golden.ranges[name] = range;
}

}  // namespace

GoldenFile ReadGoldenFile() {
  GoldenFile golden;
  std::ifstream file(RINGWAY_TEST_DATA "/twemproxy-golden.txt");
  EXPECT_TRUE(file.is_open());
  std::string key;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("KEY ")) {
      key = line.substr(4);
    } else if (line.starts_with("   ")) {
      std::istringstream words(line);
      std::string name;
      uint32_t value = 0;
      words >> name >> value;
      golden.hashes[key][name] = value;
    } else if (line.starts_with("KETAMA ")) {
      ParseKetama(line, golden);
    } else if (line.starts_with("equal-weight ")) {
      ParseShortCounts(line, golden);
    } else if (line.starts_with("RANGE ")) {
      ParseRange(line, golden);
    }
  }
  return golden;
}

}  // namespace ringway::ring
