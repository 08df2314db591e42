#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "config/address.h"
#include "config/shard_reader.h"
#include "config/values.h"
#include "config/yaml_tree.h"
#include "proxy/control/saved_state_words.h"
#include "ring/ring_check.h"

namespace ringway::proxy {
namespace {

using config::Quoted;
using config::YamlNode;

constexpr size_t kIdDigits = 40;

// Where mistakes are gathered.
struct Complaints {
  std::string file_name;
  config::Problems problems;

  void Add(int line, std::string what) {
    problems.push_back({file_name + ":" + std::to_string(line), std::move(what)});
  }
};

// One map of the tree, each key of which must be asked for: what is left over is a mistake as well.
class MapReader {
 public:
  MapReader(const YamlNode& node, Complaints* complaints) : line_(node.line), complaints_(*complaints) {
    if (node.kind != YamlNode::Kind::kMap) {
      complaints_.Add(line_, "expected a map, found " + node.Describe());
      broken_ = true;
      return;
    }
    for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
      const YamlNode& key = node.items[i];
      if (!items_.emplace(key.text, &node.items[i + 1]).second) {
        complaints_.Add(key.line, Quoted(key.text) + " is there twice");
      }
    }
  }

  // The value of a key, or null with a complaint.
  const YamlNode* Take(std::string_view key) {
    const YamlNode* value = TakeOptional(key);
    if (value == nullptr && !broken_) complaints_.Add(line_, "there is no " + std::string(key));
    return value;
  }

  const YamlNode* TakeOptional(std::string_view key) {
    const auto found = items_.find(key);
    if (found == items_.end()) return nullptr;
    const YamlNode* value = found->second;
    items_.erase(found);
    return value;
  }

  void Text(std::string_view key, std::string* text) {
    if (const YamlNode* value = TakeScalar(key)) *text = value->text;
  }

  void Number(std::string_view key, int64_t* number) {
    const YamlNode* value = TakeScalar(key);
    if (value == nullptr) return;
    if (const auto parsed = config::ParseInteger(value->text); parsed && *parsed >= 0) {
      *number = *parsed;
    } else {
      Complain(*value, key, "a whole number");
    }
  }

  void Number(std::string_view key, uint64_t* number) {
    int64_t value = 0;
    Number(key, &value);
    *number = static_cast<uint64_t>(value);
  }

  void Share(std::string_view key, double* share) {
    const YamlNode* value = TakeScalar(key);
    if (value == nullptr) return;
    if (const auto parsed = config::ParseDecimal(value->text); parsed && *parsed >= 0) {
      *share = *parsed;
    } else {
      Complain(*value, key, "a number from 0");
    }
  }

  void Bool(std::string_view key, bool* flag) {
    const YamlNode* value = TakeScalar(key);
    if (value == nullptr) return;
    if (value->text != "true" && value->text != "false") Complain(*value, key, "true or false");
    *flag = value->text == "true";
  }

  void End() {
    for (const auto& [key, value] : items_) complaints_.Add(value->line, "there is no key " + Quoted(key));
  }

  void Complain(const YamlNode& value, std::string_view key, const std::string& expected) {
    complaints_.Add(value.line, std::string(key) + ": expected " + expected + ", found " + value.Describe());
  }

 private:
  const YamlNode* TakeScalar(std::string_view key) {
    const YamlNode* value = Take(key);
    if (value == nullptr || value->kind == YamlNode::Kind::kScalar) return value;
    Complain(*value, key, "a single value");
    return nullptr;
  }

  const int line_;
  Complaints& complaints_;
  std::map<std::string, const YamlNode*, std::less<>> items_;
  bool broken_ = false;
};

class StateReader {
 public:
  explicit StateReader(std::string_view file_name) { complaints_.file_name = file_name; }

  config::Result<SavedState> Read(const YamlNode& root) {
    if (CheckKind(root)) ReadRoot(root);
    if (!complaints_.problems.empty()) {
      return config::Result<SavedState>::Failure(std::move(complaints_.problems));
    }
    return std::move(state_);
  }

 private:
  // A file of something else is told so, and not what each of its lines lacks.
  bool CheckKind(const YamlNode& root) {
    const std::string opening = std::string(kStateKey) + ": " + std::to_string(kStateVersion);
    const bool opens = root.kind == YamlNode::Kind::kMap && root.items.front().text == kStateKey;
    if (!opens) {
      complaints_.Add(std::max(root.line, 1), "no state of a proxy, which begins with " + opening);
      return false;
    }
    const YamlNode& version = root.items[1];
    if (version.text == std::to_string(kStateVersion)) return true;
    complaints_.Add(version.line, "a state of another version of ringway: expected " + opening + ", found " +
                                      version.Describe());
    return false;
  }

  void ReadRoot(const YamlNode& root) {
    MapReader map(root, &complaints_);
    map.Take(kStateKey);
    ReadEnd(map, root);
    ReadId(map, "proxy_id", &state_.proxy_id);
    ReadId(map, "run_id", &state_.run_id);
    map.Number("next_move_id", &state_.next_move_id);
    if (const YamlNode* ring = map.Take("ring")) ReadRing(*ring);
    ReadRingShards(map, "shards", &state_.shards);
    if (const YamlNode* list = map.Take("configured")) ReadShards(*list, &state_.configured);
    if (const YamlNode* move = map.TakeOptional("move")) ReadMove(*move);
    if (const YamlNode* last = map.TakeOptional("last")) ReadReport(*last, &state_.last.emplace());
    map.End();
  }

  void ReadEnd(MapReader& map, const YamlNode& root) {
    const YamlNode* end = map.TakeOptional(kEndKey);
    const bool is_last = end != nullptr && end == &root.items.back() && end->text == "true";
    if (!is_last) {
      complaints_.Add(root.items[root.items.size() - 2].line,
                      "the file is cut short: its last line has to be " + std::string(kEndKey) + ": true");
    }
  }

  void ReadId(MapReader& map, std::string_view key, std::string* id) {
    const YamlNode* value = map.Take(key);
    if (value == nullptr) return;
    const bool fits = value->kind == YamlNode::Kind::kScalar && value->text.size() == kIdDigits &&
                      value->text.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!fits) return map.Complain(*value, key, "40 hexadecimal digits");
    *id = value->text;
  }

  void ReadRing(const YamlNode& node) {
    MapReader map(node, &complaints_);
    config::Config config;
    for (const config::Field* field : PlacementFields()) {
      const YamlNode* value = map.Take(PlacementWord(*field));
      if (value == nullptr) continue;
      if (const auto expected = config::Set(&config, *field, value->text)) {
        complaints_.Add(value->line,
                        std::string(field->path) + ": " + *expected + ", found " + Quoted(value->text));
      }
    }
    map.End();
    state_.ring = config.ring;
  }

  void ReadShards(const YamlNode& list, std::vector<SavedShard>* shards) {
    if (list.kind != YamlNode::Kind::kSequence) {
      return complaints_.Add(list.line, "expected a list of shards, found " + list.Describe());
    }
    std::set<std::string> names;
    std::set<std::string> addresses;
    for (const YamlNode& item : list.items) {
      const SavedShard shard = ReadShard(item);
      if (!names.insert(shard.name).second) {
        complaints_.Add(item.line, "the name " + Quoted(shard.name) + " is there twice");
      }
      if (!addresses.insert(config::Lower(shard.address)).second) {
        complaints_.Add(item.line, "the address " + Quoted(shard.address) + " is there twice");
      }
      shards->push_back(shard);
    }
  }

  SavedShard ReadShard(const YamlNode& node) {
    MapReader map(node, &complaints_);
    SavedShard shard;
    std::string weight;
    map.Text("name", &shard.name);
    map.Text("address", &shard.address);
    map.Text("weight", &weight);
    map.End();
    config::ShardConfig parsed;
    if (const auto expected = config::CheckShardName(shard.name)) {
      complaints_.Add(node.line, "name: " + *expected + ", found " + Quoted(shard.name));
    }
    if (const auto expected = config::ParseShardAddress(shard.address, &parsed)) {
      complaints_.Add(node.line, "address: " + *expected + ", found " + Quoted(shard.address));
    }
    if (const auto expected = config::ParseWeight(weight, &shard.weight)) {
      complaints_.Add(node.line, "weight: " + *expected + ", found " + Quoted(weight));
    }
    return shard;
  }

  // Shards that have to make a ring. Asked only when nothing else is wrong with the file so far.
  void ReadRingShards(MapReader& map, std::string_view key, std::vector<SavedShard>* shards) {
    const YamlNode* list = map.Take(key);
    if (list == nullptr) return;
    ReadShards(*list, shards);
    if (!complaints_.problems.empty()) return;
    std::vector<ring::Member> members;
    for (const SavedShard& shard : *shards) members.push_back({shard.name, shard.address, shard.weight});
    if (const auto problem = ring::CheckRing(members, state_.ring)) {
      complaints_.Add(list->line, std::string(key) + ": " + *problem);
    }
  }

  void ReadMove(const YamlNode& node) {
    SavedMove& move = state_.move.emplace();
    MapReader map(node, &complaints_);
    if (const YamlNode* phase = map.Take("phase")) ReadPhase(map, *phase, &move.phase);
    map.Bool("paused", &move.paused);
    ReadRingShards(map, "from", &move.from);
    ReadRingShards(map, "to", &move.to);
    ReadNames(map, "given_up", {&move.from}, &move.given_up);
    ReadNames(map, "replaced", {&move.from, &move.to}, &move.replaced);
    if (const YamlNode* report = map.Take("report")) ReadReport(*report, &move.report);
    map.End();
  }

  static void ReadPhase(MapReader& map, const YamlNode& node, SavedMove::Phase* phase) {
    using Phase = SavedMove::Phase;
    for (const Phase known : {Phase::kHolding, Phase::kMoving, Phase::kAborting, Phase::kSettling}) {
      if (node.text != PhaseWord(known)) continue;
      *phase = known;
      return;
    }
    map.Complain(node, "phase", "holding, moving, aborting or settling");
  }

  // Names that have to be in each of `lists`.
  void ReadNames(MapReader& map, std::string_view key,
                 const std::vector<const std::vector<SavedShard>*>& lists, std::vector<std::string>* names) {
    const YamlNode* list = map.Take(key);
    if (list == nullptr) return;
    if (list->kind != YamlNode::Kind::kSequence) return map.Complain(*list, key, "a list of names");
    for (const YamlNode& item : list->items) {
      const bool known =
          std::all_of(lists.begin(), lists.end(), [&item](const std::vector<SavedShard>* shards) {
            return std::any_of(shards->begin(), shards->end(),
                               [&item](const SavedShard& shard) { return shard.name == item.text; });
          });
      if (!known) map.Complain(item, key, "the name of a shard of this move");
      names->push_back(item.text);
    }
  }

  void ReadReport(const YamlNode& node, MigrationReport* report) {
    MapReader map(node, &complaints_);
    for (const NumberWord& word : kNumberWords) map.Number(word.key, &(report->*word.number));
    for (const TimeWord& word : kTimeWords) map.Number(word.key, &(report->*word.usec));
    for (const TextWord& word : kTextWords) map.Text(word.key, &(report->*word.text));
    if (const YamlNode* pairs = map.Take("pairs")) ReadPairs(map, *pairs, &report->pairs);
    map.End();
  }

  void ReadPairs(MapReader& outer, const YamlNode& list, std::vector<MovePairCounts>* pairs) {
    if (list.kind != YamlNode::Kind::kSequence) return outer.Complain(list, "pairs", "a list");
    for (const YamlNode& item : list.items) {
      MapReader map(item, &complaints_);
      MovePairCounts& pair = pairs->emplace_back();
      map.Text("from", &pair.from);
      map.Text("to", &pair.to);
      map.Share("share", &pair.counts.share);
      for (const CountWord& word : kCountWords) map.Number(word.key, &(pair.counts.*word.count));
      map.End();
    }
  }

  Complaints complaints_;
  SavedState state_;
};

}  // namespace

config::Result<SavedState> ReadState(std::string_view text, std::string_view file_name) {
  const config::Result<YamlNode> tree = config::ParseYamlTree(text, file_name);
  if (!tree.ok()) return config::Result<SavedState>::Failure(tree.problems());
  return StateReader(file_name).Read(tree.value());
}

}  // namespace ringway::proxy
