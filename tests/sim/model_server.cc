#include "tests/sim/model_server.h"

#include <algorithm>
#include <cctype>

#include "tests/sim/core_world.h"

namespace ringway::proxy {
namespace {

constexpr const char* kFull = "OOM command not allowed when used memory > 'maxmemory'.";
constexpr const char* kIoError = "-IOERR error or timeout reading to target instance\r\n";

ModelStore::Args Lowered(ModelStore::Args args) {
  std::transform(args[0].begin(), args[0].end(), args[0].begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return args;
}

bool IsOwn(const ModelStore::Args& args) { return std::isupper(static_cast<unsigned char>(args[0][0])) != 0; }

}  // namespace

std::string ModelServer::Execute(Connection& connection, const ModelStore::Args& args) {
  if (args[0] == "MULTI") {
    connection.in_multi = true;
    connection.queued.clear();
    return "+OK\r\n";
  }
  if (args[0] == "EXEC") {
    connection.in_multi = false;
    return ExecuteQueued(connection.db, connection.queued);
  }
  if (connection.in_multi) {
    connection.queued.push_back(args);
    return "+QUEUED\r\n";
  }
  return IsOwn(args) ? ExecuteOne(connection.db, args) : ExecuteClients(connection.db, args);
}

std::string ModelServer::ExecuteQueued(uint32_t db, const std::vector<ModelStore::Args>& queued) {
  std::string reply = "*" + std::to_string(queued.size()) + "\r\n";
  bool all_there = true;
  for (const ModelStore::Args& args : queued) {
    if (IsOwn(args)) {
      const std::string element = ExecuteOne(db, args);
      if (args[0] == "EXISTS") all_there = element == ":" + std::to_string(args.size() - 1) + "\r\n";
      reply += element;
    } else {
      // Read at the source of a move: counts only if the keys are there.
      reply += all_there ? ExecuteClients(db, args) : store_.Run(db, args, environment_.now_usec);
    }
  }
  return reply;
}

std::string ModelServer::ExecuteClients(uint32_t db, const ModelStore::Args& args) {
  if (full && ModelStore::IsWrite(args) && args[0] != "del") return "-" + std::string(kFull) + "\r\n";
  std::string reply = store_.Run(db, args, environment_.now_usec);
  const std::string truth = environment_.truth.Run(db, args, environment_.now_usec);
  if (reply != truth && environment_.problem.empty()) {
    environment_.problem = host_ + " answered " + reply + "instead of " + truth + "to";
    for (const std::string& arg : args) environment_.problem += " " + arg;
    environment_.problem += " in database " + std::to_string(db);
  }
  return reply;
}

std::string ModelServer::ExecuteOne(uint32_t db, const ModelStore::Args& args) {
  const std::string& name = args[0];
  if (name == "PING") return "+PONG\r\n";
  if (name == "MEMORY") return store_.Find({db, args[2]}, environment_.now_usec) ? ":100\r\n" : "$-1\r\n";
  if (name == "MIGRATE") return ExecuteMigrate(args);
  if (name == "RESTORE") return ExecuteRestore(db, args);
  ModelStore::Args lowered = Lowered(args);
  if (lowered[0] == "dump") lowered[0] = "get";
  return store_.Run(db, lowered, environment_.now_usec);
}

// MIGRATE host port "" db timeout REPLACE KEYS key ...
std::string ModelServer::ExecuteMigrate(const ModelStore::Args& args) {
  ModelServer* target = environment_.find(args[1]);
  if (target == nullptr) return kIoError;
  return Migrate(*target, static_cast<uint32_t>(std::stoul(args[4])),
                 std::vector<std::string>(args.begin() + 8, args.end()));
}

std::string ModelServer::Migrate(ModelServer& target, uint32_t db, const std::vector<std::string>& keys) {
  std::vector<std::string> present;
  for (const std::string& key : keys) {
    if (store_.Find({db, key}, environment_.now_usec)) present.push_back(key);
  }
  if (present.empty()) return "+NOKEY\r\n";
  const Luck luck = environment_.luck();
  if (luck == Luck::kUnreachable) return kIoError;
  if (target.full) return "-ERR Target instance replied with error: " + std::string(kFull) + "\r\n";
  const size_t moved = luck == Luck::kGood ? present.size() : luck == Luck::kHalf ? present.size() / 2 : 0;
  for (size_t i = 0; i < present.size(); ++i) {
    const ModelStore::Key key{db, present[i]};
    target.store_.Put(key, *store_.Find(key, environment_.now_usec));
    if (i < moved) store_.Erase(key);
  }
  return luck == Luck::kGood ? "+OK\r\n" : kIoError;
}

// RESTORE key ttl payload REPLACE
std::string ModelServer::ExecuteRestore(uint32_t db, const ModelStore::Args& args) {
  if (full) return "-" + std::string(kFull) + "\r\n";
  const int64_t ttl_ms = std::stoll(args[2]);
  store_.Put({db, args[1]}, {args[3], ttl_ms == 0 ? 0 : environment_.now_usec + ttl_ms * 1000});
  return "+OK\r\n";
}

}  // namespace ringway::proxy
