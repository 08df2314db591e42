// The file the package installs and the page that documents it, held against the rows of config_fields.cc.
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "config/config_fields.h"
#include "config/config_file.h"
#include "config/yaml_tree.h"

namespace ringway::config {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream in(std::string(RINGWAY_SOURCE_DIR) + "/" + path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(ShippedFiles, PackagedConfigurationIsTheDefaults) {
  const Result<Config> config = ParseConfig(ReadAll("packaging/ringway.yaml"), "packaging/ringway.yaml");
  ASSERT_TRUE(config.ok()) << config.problems()[0].ToString();
  EXPECT_TRUE(config.warnings().empty());
  for (const Field& field : Fields()) {
    // The package has a folder to keep its state in.
    if (field.path == "state_file") continue;
    EXPECT_TRUE(SameValue(config.value(), Config(), field)) << field.path;
  }
  EXPECT_EQ(config.value().state_file, "/var/lib/ringway/state.yaml");
  EXPECT_EQ(config.value().shards.size(), 1u);
}

void CollectPaths(const YamlNode& map, const std::string& prefix, std::map<std::string, int>* paths) {
  for (size_t i = 0; i + 1 < map.items.size(); i += 2) {
    const std::string path = prefix + map.items[i].text;
    ++(*paths)[path];
    if (map.items[i + 1].kind == YamlNode::Kind::kMap) CollectPaths(map.items[i + 1], path + ".", paths);
  }
}

TEST(ShippedFiles, PackagedConfigurationShowsEveryOption) {
  const Result<YamlNode> tree = ParseYamlTree(ReadAll("packaging/ringway.yaml"), "f");
  ASSERT_TRUE(tree.ok()) << tree.problems()[0].ToString();
  std::map<std::string, int> paths;
  CollectPaths(tree.value(), "", &paths);
  for (const Field& field : Fields()) {
    EXPECT_EQ(paths.count(std::string(field.path)), 1u) << field.path << " is not in packaging/ringway.yaml";
  }
}

// Cells of each row "| `path` | meaning | value | default | changes | Redis |", by path.
std::map<std::string, std::vector<std::string>> DocumentedOptions() {
  std::map<std::string, std::vector<std::string>> rows;
  std::ifstream in(std::string(RINGWAY_SOURCE_DIR) + "/docs/configuration.md");
  EXPECT_TRUE(in);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("| `", 0) != 0 || line.rfind("| `-", 0) == 0) continue;  // not the flags
    std::vector<std::string> cells;
    for (size_t begin = 2; begin < line.size();) {
      const size_t end = std::min(line.find(" |", begin), line.size());
      cells.push_back(line.substr(begin, end - begin));
      begin = end + 3;
    }
    EXPECT_EQ(cells.size(), 6u) << line;
    if (cells.size() != 6) continue;
    const std::string path = cells[0].substr(1, cells[0].size() - 2);
    EXPECT_TRUE(rows.emplace(path, cells).second) << path << " is documented twice";
  }
  return rows;
}

TEST(ShippedFiles, DocumentedOptionsAreTheRowsWithTheirRangesAndDefaults) {
  auto rows = DocumentedOptions();
  const auto code = [](const std::string& text) { return text.empty() ? "" : "`" + text + "`"; };
  for (const Field& field : Fields()) {
    const auto row = rows.find(std::string(field.path));
    if (row == rows.end()) {
      ADD_FAILURE() << field.path << " is not in docs/configuration.md";
      continue;
    }
    const std::vector<std::string>& cells = row->second;
    const std::string by_default = Get(Config(), field);
    EXPECT_GT(cells[1].size(), 10u) << field.path << " has no meaning";
    EXPECT_EQ(cells[2], field.Expected()) << field.path;
    EXPECT_EQ(cells[3], by_default.empty() ? "empty" : code(by_default)) << field.path;
    const char* when = field.when == When::kLive ? "live" : field.when == When::kReload ? "reload" : "start";
    EXPECT_EQ(cells[4], when) << field.path;
    EXPECT_EQ(cells[5], code(std::string(field.redis_name))) << field.path;
    rows.erase(row);
  }
  for (const auto& [path, cells] : rows) ADD_FAILURE() << path << " is documented but does not exist";
}

}  // namespace
}  // namespace ringway::config
