// Reads the YAML configuration. Every mistake is found in one go, each with its line and what was expected.
#ifndef RINGWAY_CONFIG_CONFIG_FILE_H_
#define RINGWAY_CONFIG_CONFIG_FILE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/result.h"

namespace ringway::config {

// Sizes a file of a thousand shards stays far under; what is larger is not a configuration.
inline constexpr size_t kMaxConfigBytes = size_t{4} << 20;
inline constexpr size_t kMaxSecretBytes = 4096;

// Gives the text of a file that holds one password (keys ending in _file). The last line ending is not part
// of it.
using SecretReader = std::function<Result<std::string>(const std::string& path)>;

// Reads it from disk. Errors: cannot be read, empty, over kMaxSecretBytes, more than one line.
// Warns when every user of the machine can read it.
Result<std::string> ReadSecretFile(const std::string& path);

// `file_name` opens each problem's `where`. Pure when `read_secret` is.
Result<Config> ParseConfig(std::string_view yaml_text, std::string_view file_name,
                           const SecretReader& read_secret = ReadSecretFile);

// The same for a file on disk; one that cannot be read is a problem like any other.
Result<Config> LoadConfigFile(const std::string& path);

// For the command line, which lays its flags over the file before asking whether the whole makes sense.
// The draft remembers what was set, since some defaults depend on others.
struct ConfigDraft {
  Config config;
  Problems problems;
  Problems warnings;
  std::vector<std::string> shard_places;  // where each of config.shards stands
  bool hash_was_set = false;
  std::string shards_where;  // where the list of shards stands, for problems that concern all of them
  std::string ring_where;
};

// Adds what the text says, and its mistakes, to the draft.
void ReadYaml(std::string_view yaml_text, std::string_view file_name, const SecretReader& read_secret,
              ConfigDraft* draft);
void ReadYamlFile(const std::string& path, ConfigDraft* draft);

// Sets one option by its path as `--set` does; a path that ends in _file reads a secret.
void SetOption(std::string_view path, std::string_view value, std::string_view where,
               const SecretReader& read_secret, ConfigDraft* draft);

// Checks what no option can know alone (shards, ring, pairs of hash and distribution), and fills what depends
// on other options.
Result<Config> FinishDraft(ConfigDraft draft);

}  // namespace ringway::config

#endif  // RINGWAY_CONFIG_CONFIG_FILE_H_
