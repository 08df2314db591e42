#include "bench/load/options.h"

#include <charconv>
#include <functional>
#include <map>
#include <string_view>

namespace ringway::bench {

const char kUsage[] =
    "loadgen: puts load on one Redis-compatible server and prints one line of JSON\n"
    "  --host 127.0.0.1  --port 6379     the target (IPv4 address)\n"
    "  --clients 50      --pipeline 1    connections; requests each sends before it waits for all replies\n"
    "  --seconds 5 | --requests N        how long is measured\n"
    "  --warmup 0                        seconds before that, not measured\n"
    "  --command getset                  getset | get | set | mget:N | mset:N | ping | connect | fill\n"
    "                                    connect: connect, PING, close; fill: every key set once\n"
    "  --ratio 9:1                       GET:SET of getset\n"
    "  --value-size 32   --keys 100000   bytes; number of different keys\n"
    "  --hot 0           --zipf 0        share of the first key, exponent of a Zipf distribution; else all\n"
    "                                    keys come alike\n"
    "  --verify                          own keys and unique values for each client, every reply checked\n"
    "  --watch-pid PID                   adds CPU time and context switches of that process\n"
    "  --stall 10                        seconds without a reply after which the run is given up\n"
    "  --seed 1                          of the order of keys and commands\n"
    "exit status: 0 measured, 1 a wrong reply, a lost value or a target that does not answer, 2 bad flags\n";

namespace {

template <typename T>
bool ParseNumber(std::string_view text, T* out) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return code == std::errc() && end == text.data() + text.size();
}

template <typename T>
bool ParsePositive(std::string_view text, T* out) {
  return ParseNumber(text, out) && *out > 0;
}

bool ParseSeconds(std::string_view text, double* out) {
  return ParseNumber(text, out) && *out >= 0 && *out < 1e6;
}

bool ParseShare(std::string_view text, double* out) {
  return ParseNumber(text, out) && *out >= 0 && *out <= 1;
}

bool ParseExponent(std::string_view text, double* out) {
  return ParseNumber(text, out) && *out >= 0 && *out <= 10;
}

bool ParseRatio(std::string_view text, LoadOptions* options) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && ParseNumber(text.substr(0, colon), &options->gets) &&
         ParseNumber(text.substr(colon + 1), &options->sets) && options->gets + options->sets > 0;
}

bool ParseCommand(std::string_view text, LoadOptions* options) {
  static const std::map<std::string_view, LoadCommand> kNames = {
      {"getset", LoadCommand::kGetSet},   {"get", LoadCommand::kGetSet}, {"set", LoadCommand::kGetSet},
      {"mget", LoadCommand::kMGet},       {"mset", LoadCommand::kMSet},  {"ping", LoadCommand::kPing},
      {"connect", LoadCommand::kConnect}, {"fill", LoadCommand::kFill},
  };
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto found = kNames.find(name);
  if (found == kNames.end()) return false;
  options->command = found->second;
  if (name == "get") options->gets = 1, options->sets = 0;
  if (name == "set") options->gets = 0, options->sets = 1;
  const bool many = options->command == LoadCommand::kMGet || options->command == LoadCommand::kMSet;
  if (many)
    return colon != std::string_view::npos &&
           ParsePositive(text.substr(colon + 1), &options->keys_per_command);
  return colon == std::string_view::npos;
}

struct Flag {
  const char* expected;
  std::function<bool(std::string_view, LoadOptions*)> parse;
};

const std::map<std::string_view, Flag>& Flags() {
  using V = std::string_view;
  static const std::map<V, Flag> kFlags = {
      {"host", {"an IPv4 address", [](V v, LoadOptions* o) { return !(o->host = v).empty(); }}},
      {"port", {"1..65535", [](V v, LoadOptions* o) { return ParsePositive(v, &o->port); }}},
      {"clients", {"a number above 0", [](V v, LoadOptions* o) { return ParsePositive(v, &o->clients); }}},
      {"pipeline", {"a number above 0", [](V v, LoadOptions* o) { return ParsePositive(v, &o->pipeline); }}},
      {"seconds", {"seconds", [](V v, LoadOptions* o) { return ParseSeconds(v, &o->seconds); }}},
      {"requests", {"a number above 0", [](V v, LoadOptions* o) { return ParsePositive(v, &o->requests); }}},
      {"warmup", {"seconds", [](V v, LoadOptions* o) { return ParseSeconds(v, &o->warmup); }}},
      {"stall", {"seconds", [](V v, LoadOptions* o) { return ParseSeconds(v, &o->stall); }}},
      {"ratio", {"GETS:SETS", [](V v, LoadOptions* o) { return ParseRatio(v, o); }}},
      {"value-size", {"bytes", [](V v, LoadOptions* o) { return ParseNumber(v, &o->value_size); }}},
      {"keys", {"a number above 0", [](V v, LoadOptions* o) { return ParsePositive(v, &o->keys); }}},
      {"hot", {"0..1", [](V v, LoadOptions* o) { return ParseShare(v, &o->hot); }}},
      {"zipf", {"0..10", [](V v, LoadOptions* o) { return ParseExponent(v, &o->zipf); }}},
      {"command", {"getset, get, set, mget:N, mset:N, ping, connect or fill", ParseCommand}},
      {"watch-pid", {"a process id", [](V v, LoadOptions* o) { return ParsePositive(v, &o->watch_pid); }}},
      {"seed", {"a number", [](V v, LoadOptions* o) { return ParseNumber(v, &o->seed); }}},
  };
  return kFlags;
}

}  // namespace

std::optional<LoadOptions> ParseLoadOptions(int argc, char** argv, std::string* error) {
  LoadOptions options;
  for (int i = 1; i < argc; ++i) {
    std::string_view name = argv[i];
    if (name == "--verify") {
      options.verify = true;
      continue;
    }
    std::optional<std::string_view> value;
    if (const std::size_t equals = name.find('='); equals != std::string_view::npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    } else if (i + 1 < argc) {
      value = argv[++i];
    }
    const auto flag = name.starts_with("--") ? Flags().find(name.substr(2)) : Flags().end();
    if (flag == Flags().end()) {
      *error = "unknown flag " + std::string(name);
      return std::nullopt;
    }
    if (!value || !flag->second.parse(*value, &options)) {
      *error = std::string(name) + ": expected " + flag->second.expected;
      return std::nullopt;
    }
  }
  if (options.command == LoadCommand::kConnect) options.pipeline = 1;
  if (options.command == LoadCommand::kFill) options.requests = options.keys;
  if (options.verify && options.command == LoadCommand::kFill) {
    *error = "--verify: not with fill";
    return std::nullopt;
  }
  if ((options.hot > 0) + (options.zipf > 0) + options.verify > 1) {
    *error = "only one of --hot, --zipf and --verify";
    return std::nullopt;
  }
  return options;
}

}  // namespace ringway::bench
