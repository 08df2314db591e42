// YAML text as a plain tree with line numbers, bounded in size and depth before anything is built from it.
#ifndef RINGWAY_CONFIG_YAML_TREE_H_
#define RINGWAY_CONFIG_YAML_TREE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/result.h"

namespace ringway::config {

// The deepest place of a configuration is a key of a shard in the list of shards.
inline constexpr int kMaxYamlDepth = 8;
inline constexpr size_t kMaxYamlNodes = 200'000;

struct YamlNode {
  enum class Kind { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  int line = 0;                 // from 1
  std::string text;             // kScalar
  std::vector<YamlNode> items;  // kSequence; kMap: key, value, key, value ...

  // "a list", "a map", "nothing", or the scalar in quotes: what a message says was found.
  std::string Describe() const;
};

// The only document of the text; no text at all is kNull. Anchors, aliases and second documents are refused:
// a configuration needs none, and they are how a small file becomes a large one. Never throws.
Result<YamlNode> ParseYamlTree(std::string_view text, std::string_view file_name);

}  // namespace ringway::config

#endif  // RINGWAY_CONFIG_YAML_TREE_H_
