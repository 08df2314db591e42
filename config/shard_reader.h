// The list of shards, from YAML and from flags.
#ifndef RINGWAY_CONFIG_SHARD_READER_H_
#define RINGWAY_CONFIG_SHARD_READER_H_

#include <optional>
#include <string>
#include <string_view>

#include "config/config_file.h"
#include "config/yaml_tree.h"

namespace ringway::config {

// Reads the value of `shards:` and adds to the draft.
void ReadShards(const YamlNode& list, std::string_view file_name, const SecretReader& read_secret,
                ConfigDraft* draft);

// Reads "name=address[*weight]", the argument of --shard, and adds to the draft.
void ReadShardFlag(std::string_view text, ConfigDraft* draft);

// Gives what was expected when the text is refused.
std::optional<std::string> ParseWeight(std::string_view text, double* weight);

}  // namespace ringway::config

#endif  // RINGWAY_CONFIG_SHARD_READER_H_
