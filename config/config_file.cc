#include "config/config_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <sys/stat.h>

#include "config/config_fields.h"
#include "config/shard_reader.h"
#include "config/values.h"
#include "config/yaml_tree.h"

namespace ringway::config {

namespace {

constexpr std::string_view kSecretFileSuffix = "_file";
constexpr std::string_view kShardsKey = "shards";

// The secret option that "requirepass_file" and its like fill; null for any other path.
const Field* SecretBehind(std::string_view path) {
  if (!path.ends_with(kSecretFileSuffix)) return nullptr;
  const Field* field = FindField(path.substr(0, path.size() - kSecretFileSuffix.size()));
  return field != nullptr && field->is_secret() ? field : nullptr;
}

const Field* FindPath(std::string_view path) {
  const auto fields = Fields();
  const auto found =
      std::find_if(fields.begin(), fields.end(), [path](const Field& f) { return f.path == path; });
  return found == fields.end() ? nullptr : &*found;
}

bool IsSection(std::string_view path) {
  return std::any_of(Fields().begin(), Fields().end(), [path](const Field& field) {
    return field.path.size() > path.size() && field.path.starts_with(path) && field.path[path.size()] == '.';
  });
}

// What may stand directly below `prefix` ("" or "limits.").
std::vector<std::string_view> KeysBelow(std::string_view prefix, std::vector<std::string>* storage) {
  std::set<std::string> keys;
  for (const Field& field : Fields()) {
    if (!field.path.starts_with(prefix)) continue;
    const std::string_view rest = field.path.substr(prefix.size());
    keys.insert(std::string(rest.substr(0, rest.find('.'))));
    if (field.is_secret() && rest.find('.') == std::string_view::npos) {
      keys.insert(std::string(rest) + std::string(kSecretFileSuffix));
    }
  }
  if (prefix.empty()) keys.insert(std::string(kShardsKey));
  storage->assign(keys.begin(), keys.end());
  return {storage->begin(), storage->end()};
}

// Walks the tree along the rows of config_fields.cc.
class YamlReader {
 public:
  YamlReader(std::string_view file_name, const SecretReader& read_secret, ConfigDraft* draft)
      : file_name_(file_name), read_secret_(read_secret), draft_(draft) {}

  void ReadTop(const YamlNode& root) {
    if (root.kind == YamlNode::Kind::kNull) return;
    if (root.kind != YamlNode::Kind::kMap) {
      Complain(root.line, "expected a map of options at the top, found " + root.Describe());
      return;
    }
    ReadMap(root, "");
  }

 private:
  std::string Where(int line) const { return file_name_ + ":" + std::to_string(line); }
  void Complain(int line, std::string what) { draft_->problems.push_back({Where(line), std::move(what)}); }

  void ReadMap(const YamlNode& map, const std::string& prefix) {
    std::map<std::string, int> seen;
    for (size_t i = 0; i + 1 < map.items.size(); i += 2) {
      const YamlNode& key = map.items[i];
      if (key.kind != YamlNode::Kind::kScalar) {
        Complain(key.line, "expected the name of an option, found " + key.Describe());
        continue;
      }
      const std::string path = prefix + key.text;
      const auto [first, is_new] = seen.emplace(key.text, key.line);
      if (!is_new) {
        Complain(key.line, path + " is already set in line " + std::to_string(first->second));
        continue;
      }
      ReadKey(key, map.items[i + 1], path, prefix);
    }
    RefuseSecretTwice(map, prefix, seen);
  }

  void RefuseSecretTwice(const YamlNode& map, const std::string& prefix,
                         const std::map<std::string, int>& seen) {
    for (size_t i = 0; i + 1 < map.items.size(); i += 2) {
      const YamlNode& key = map.items[i];
      if (key.kind != YamlNode::Kind::kScalar) continue;
      const Field* secret = SecretBehind(prefix + key.text);
      if (secret == nullptr || seen.count(std::string(secret->path.substr(prefix.size()))) == 0) continue;
      Complain(key.line,
               prefix + key.text + " and " + std::string(secret->path) + " are both set; expected one");
    }
  }

  void ReadKey(const YamlNode& key, const YamlNode& value, const std::string& path,
               const std::string& prefix) {
    if (path == kShardsKey) {
      draft_->shards_where = Where(key.line);
      ReadShards(value, file_name_, read_secret_, draft_);
    } else if (key.text.find('.') != std::string::npos) {
      // Paths are for --set; here they would hide a second setting of the same option.
      Complain(key.line, "there is no option " + Quoted(path) + "; expected a map for its section");
    } else if (const Field* field = FindPath(path)) {
      ReadField(key, value, *field);
    } else if (SecretBehind(path) != nullptr) {
      if (value.kind == YamlNode::Kind::kScalar) {
        SetOption(path, value.text, Where(value.line), read_secret_, draft_);
      } else {
        Complain(value.line, path + ": expected the path of a file, found " + value.Describe());
      }
    } else if (IsSection(path)) {
      if (value.kind == YamlNode::Kind::kMap) {
        if (path == "ring") draft_->ring_where = Where(key.line);
        ReadMap(value, path + ".");
      } else if (value.kind != YamlNode::Kind::kNull) {
        Complain(value.line, path + ": expected a map of options, found " + value.Describe());
      }
    } else {
      std::vector<std::string> storage;
      const std::string_view nearest = Nearest(key.text, KeysBelow(prefix, &storage));
      Complain(key.line,
               "there is no option " + Quoted(path) +
                   (nearest.empty() ? "" : "; did you mean " + prefix + std::string(nearest) + "?"));
    }
  }

  void ReadField(const YamlNode& key, const YamlNode& value, const Field& field) {
    const std::string path(field.path);
    if (value.kind == YamlNode::Kind::kNull) {
      Complain(key.line, path + ": expected " + field.Expected() + ", found nothing");
    } else if (value.kind == YamlNode::Kind::kScalar) {
      if (!field.is_list()) {
        SetOption(field.path, value.text, Where(value.line), read_secret_, draft_);
      } else {
        ClearList(&draft_->config, field);
        ReadItem(value, field);
      }
    } else if (value.kind == YamlNode::Kind::kSequence && field.is_list()) {
      ClearList(&draft_->config, field);
      for (const YamlNode& item : value.items) ReadItem(item, field);
      if (value.items.empty() && field.min > 0) {
        Complain(value.line, path + ": expected " + field.Expected() + ", found an empty list");
      }
    } else {
      Complain(value.line, path + ": expected " + field.Expected() + ", found " + value.Describe());
    }
  }

  void ReadItem(const YamlNode& item, const Field& field) {
    if (item.kind != YamlNode::Kind::kScalar) {
      Complain(item.line,
               std::string(field.path) + ": expected " + field.Expected() + ", found " + item.Describe());
    } else if (auto error = AddItem(&draft_->config, field, item.text)) {
      Complain(item.line, std::string(field.path) + ": " + *error + ", found " + Quoted(item.text));
    }
  }

  const std::string file_name_;
  const SecretReader& read_secret_;
  ConfigDraft* draft_;
};

// The text of a file, or a problem that says why not.
Result<std::string> ReadWholeFile(const std::string& path, size_t max_bytes) {
  std::ifstream in(path, std::ios::binary);
  struct stat status = {};
  if (!in || ::stat(path.c_str(), &status) != 0) {
    return Result<std::string>::Failure({{path, "cannot be opened: no such file, or no right to read it"}});
  }
  if (S_ISDIR(status.st_mode))
    return Result<std::string>::Failure({{path, "expected a file, found a folder"}});
  std::string text(max_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return Result<std::string>::Failure({{path, "cannot be read"}});
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > max_bytes) {
    return Result<std::string>::Failure(
        {{path, "expected at most " + FormatBytes(static_cast<int64_t>(max_bytes))}});
  }
  return text;
}

bool EveryoneCanRead(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && (status.st_mode & S_IROTH) != 0;
}

void Append(const Problems& from, Problems* to) { to->insert(to->end(), from.begin(), from.end()); }

}  // namespace

Result<std::string> ReadSecretFile(const std::string& path) {
  Result<std::string> file = ReadWholeFile(path, kMaxSecretBytes);
  if (!file.ok()) return file;
  std::string secret = std::move(file).value();
  if (secret.ends_with('\n')) secret.pop_back();
  if (secret.ends_with('\r')) secret.pop_back();
  if (secret.empty())
    return Result<std::string>::Failure({{path, "expected a password, found an empty file"}});
  if (secret.find('\n') != std::string::npos) {
    return Result<std::string>::Failure({{path, "expected one line with a password, found several"}});
  }
  Problems warnings;
  if (EveryoneCanRead(path)) {
    warnings.push_back({path, "every user of this machine can read this password; chmod 640 would hide it"});
  }
  return Result<std::string>(std::move(secret), std::move(warnings));
}

void SetOption(std::string_view path, std::string_view value, std::string_view where,
               const SecretReader& read_secret, ConfigDraft* draft) {
  const std::string place(where);
  std::string text(value);
  const Field* field = FindPath(path);
  if (field == nullptr) {
    field = SecretBehind(path);
    if (field == nullptr) {
      draft->problems.push_back({place, "there is no option " + Quoted(path)});
      return;
    }
    const Result<std::string> secret = read_secret(text);
    Append(secret.warnings(), &draft->warnings);
    if (!secret.ok()) {
      for (const Problem& problem : secret.problems()) {
        draft->problems.push_back({place, std::string(path) + ": " + problem.ToString()});
      }
      return;
    }
    text = secret.value();
  }
  if (auto error = Set(&draft->config, *field, text)) {
    const std::string found = field->is_secret() ? "" : ", found " + Quoted(value);
    draft->problems.push_back({place, std::string(path) + ": " + *error + found});
  } else if (field->path == "ring.hash") {
    draft->hash_was_set = true;
  }
}

void ReadYaml(std::string_view yaml_text, std::string_view file_name, const SecretReader& read_secret,
              ConfigDraft* draft) {
  if (yaml_text.size() > kMaxConfigBytes) {
    draft->problems.push_back({std::string(file_name), "expected at most " + FormatBytes(kMaxConfigBytes)});
    return;
  }
  const Result<YamlNode> tree = ParseYamlTree(yaml_text, file_name);
  Append(tree.problems(), &draft->problems);
  if (tree.ok()) YamlReader(file_name, read_secret, draft).ReadTop(tree.value());
}

void ReadYamlFile(const std::string& path, ConfigDraft* draft) {
  const Result<std::string> file = ReadWholeFile(path, kMaxConfigBytes);
  Append(file.problems(), &draft->problems);
  if (!file.ok()) return;
  ReadYaml(file.value(), path, ReadSecretFile, draft);
}

Result<Config> ParseConfig(std::string_view yaml_text, std::string_view file_name,
                           const SecretReader& read_secret) {
  ConfigDraft draft;
  draft.shards_where = std::string(file_name);
  ReadYaml(yaml_text, file_name, read_secret, &draft);
  return FinishDraft(std::move(draft));
}

Result<Config> LoadConfigFile(const std::string& path) {
  ConfigDraft draft;
  draft.shards_where = path;
  ReadYamlFile(path, &draft);
  return FinishDraft(std::move(draft));
}

}  // namespace ringway::config
