#include "tests/integration/move_cluster.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <utility>

#include <signal.h>

namespace ringway::test {

namespace {
constexpr int kDatabases = 16;
constexpr size_t kLocateAtOnce = 200;
constexpr size_t kMaxTold = 10;
}  // namespace

MoveCluster::MoveCluster(MoveClusterOptions options) : options_(std::move(options)) {
  std::vector<std::string> arguments = options_.redis_arguments;
  if (!options_.password.empty()) arguments.insert(arguments.end(), {"--requirepass", options_.password});
  for (int i = 0; i < options_.shards + options_.spares; ++i) {
    servers_.push_back(std::make_unique<RedisServer>(RedisServer::Later(), arguments));
  }
  for (auto& server : servers_) server->WaitReady();
  config_path_ = directory_.File("ringway.yaml");
  std::vector<size_t> shards;
  for (int i = 0; i < options_.shards; ++i) shards.push_back(static_cast<size_t>(i));
  WriteConfig(shards);
  StartProxy();
}

void MoveCluster::WriteConfig(const std::vector<size_t>& shards) const {
  std::string text = "listen: [\"" + address() + "\"]\nthreads: " + std::to_string(options_.threads) +
                     "\nstate_file: " + directory_.File("state.yaml") + "\n" + options_.config;
  if (!options_.password.empty()) text += "shard_auth: {password: " + options_.password + "}\n";
  text += "shards:\n";
  for (const size_t index : shards) {
    text += "  - {name: " + Name(index) + ", address: \"" + servers_[index]->address() + "\"}\n";
  }
  WriteFile(config_path_, text);
}

RespClient MoveCluster::Direct(size_t index) const {
  RespClient client(servers_[index]->address());
  if (!options_.password.empty()) client.Do({"AUTH", options_.password});
  return client;
}

void MoveCluster::StartProxy() {
  control_.socket().Close();
  proxy_ = std::make_unique<RingwayProcess>(std::vector<std::string>{"--config", config_path_},
                                            options_.environment);
  if (!proxy_->WaitReady()) throw SetUpFailure("ringway did not start:\n" + Logs());
}

void MoveCluster::KillProxy() {
  proxy_->Signal(SIGKILL);
  proxy_->WaitExit();
  old_logs_ += proxy_->log() + "---- killed ----\n";
  control_.socket().Close();
}

std::string MoveCluster::Logs() const { return old_logs_ + (proxy_ ? proxy_->log() : ""); }

Command MoveCluster::Add(size_t index, const std::string& weight) const {
  Command change = {"ADD", Name(index), servers_[index]->address()};
  if (!weight.empty()) change.insert(change.end(), {"WEIGHT", weight});
  return change;
}

Reply MoveCluster::Do(const Command& command, milliseconds timeout) {
  if (!control_.socket().open() && !control_.socket().Connect(address())) {
    Reply none;
    none.text = control_.socket().LastError();
    return none;
  }
  Reply reply = control_.Do(command, timeout);
  if (reply.type == 0) control_.socket().Close();
  return reply;
}

Reply MoveCluster::Ring(const Command& words, milliseconds timeout) {
  Command command = {"RING"};
  command.insert(command.end(), words.begin(), words.end());
  return Do(command, timeout);
}

std::string MoveCluster::MigrationText() { return Do({"INFO", "migration"}).text; }

std::string MoveCluster::Migration(const std::string& field) {
  return InfoField(MigrationText(), "migration_" + field);
}

double MoveCluster::MigrationNumber(const std::string& field) { return std::atof(Migration(field).c_str()); }

int64_t MoveCluster::MovedTo(const std::string& to, const std::string& field) {
  int64_t sum = 0;
  std::istringstream lines(MigrationText());
  for (std::string line; std::getline(lines, line);) {
    const size_t value = line.find("," + field + "=");
    if (!line.starts_with("move") || line.find(",to=" + to + ",") == std::string::npos) continue;
    if (value != std::string::npos) sum += std::atoll(line.c_str() + value + field.size() + 2);
  }
  return sum;
}

bool MoveCluster::WaitSettled(milliseconds timeout) {
  return Eventually(
      [this] {
        return Ring({"WAIT", "500"}).integer == 1 && Migration("state") == "idle";
      },
      timeout);
}

std::map<std::string, size_t> MoveCluster::Members() {
  std::map<std::string, size_t> members;
  const Reply list = Ring({"LIST"});
  for (const Reply& shard : list.elements) {
    const Reply* name = shard.Find("name");
    const Reply* address = shard.Find("address");
    if (name == nullptr || address == nullptr) continue;
    for (size_t i = 0; i < servers_.size(); ++i) {
      if (servers_[i]->address() == address->text) members[name->text] = i;
    }
  }
  return members;
}

std::vector<std::vector<std::string>> MoveCluster::PlacesOf(const std::vector<std::string>& keys) {
  std::vector<std::vector<std::string>> places;
  for (size_t start = 0; start < keys.size(); start += kLocateAtOnce) {
    Command words = {"LOCATE"};
    for (size_t i = start; i < std::min(keys.size(), start + kLocateAtOnce); ++i) words.push_back(keys[i]);
    for (const Reply& answer : Ring(words).elements) {
      places.emplace_back();
      for (const char* field : {"shard", "from", "to"}) {
        const Reply* place = answer.Find(field);
        if (place != nullptr && place->IsString()) places.back().push_back(place->text);
      }
    }
  }
  if (places.size() != keys.size()) throw SetUpFailure("RING LOCATE answered too little");
  return places;
}

std::vector<MoveCluster::Found> MoveCluster::AllKeys() {
  std::vector<Found> found;
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (!servers_[i]->running()) continue;
    RespClient direct = Direct(i);
    for (int database = 0; database < kDatabases; ++database) {
      direct.Do({"SELECT", std::to_string(database)});
      for (const Reply& key : direct.Do({"KEYS", "*"}).elements) {
        found.push_back({std::to_string(database) + "/" + key.text, i});
      }
    }
  }
  return found;
}

std::vector<std::string> MoveCluster::Misplaced() {
  const std::map<std::string, size_t> members = Members();
  const std::vector<Found> found = AllKeys();
  std::vector<std::string> names;
  for (const Found& each : found) names.push_back(each.key.substr(each.key.find('/') + 1));
  const std::vector<std::vector<std::string>> places = PlacesOf(names);
  std::vector<std::string> wrong;
  std::map<std::string, size_t> seen;
  for (size_t i = 0; i < found.size() && wrong.size() < kMaxTold; ++i) {
    const auto [before, first] = seen.emplace(found[i].key, found[i].server);
    if (!first)
      wrong.push_back(found[i].key + " is on " + Name(before->second) + " and " + Name(found[i].server));
    const auto owner = members.find(places[i].front());
    if (owner == members.end() || owner->second != found[i].server) {
      wrong.push_back(found[i].key + " is on the server " + Name(found[i].server) + ", and its shard is " +
                      places[i].front());
    }
  }
  return wrong;
}

int64_t MoveCluster::KeysOn(size_t index) {
  int64_t count = 0;
  RespClient direct = Direct(index);
  for (int database = 0; database < kDatabases; ++database) {
    direct.Do({"SELECT", std::to_string(database)});
    count += direct.Do({"DBSIZE"}).integer;
  }
  return count;
}

}  // namespace ringway::test
