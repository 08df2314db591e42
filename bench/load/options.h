#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace ringway::bench {

enum class LoadCommand { kGetSet, kMGet, kMSet, kPing, kConnect, kFill };

// What one run of the load generator does. Every field is a flag of the same name; see kUsage.
struct LoadOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 6379;
  std::size_t clients = 50;
  std::size_t pipeline = 1;
  double seconds = 5;     // measured time; ignored when requests > 0
  uint64_t requests = 0;  // 0: run for `seconds`
  double warmup = 0;      // seconds before the measurement begins
  double stall = 10;      // seconds without any reply after which the run is given up
  unsigned gets = 9;      // --ratio GETS:SETS
  unsigned sets = 1;
  std::size_t value_size = 32;
  std::size_t keys = 100000;
  double hot = 0;   // this share of all keys asked for is the first one
  double zipf = 0;  // above 0: the i-th key is asked for in proportion to 1 / i^zipf
  LoadCommand command = LoadCommand::kGetSet;
  std::size_t keys_per_command = 1;  // of mget:N and mset:N
  bool verify = false;
  uint64_t seed = 1;
  int watch_pid = 0;  // 0: none
};

extern const char kUsage[];

// Reads the flags (--name value or --name=value). On a mistake returns nothing and says in `error`
// what was expected.
std::optional<LoadOptions> ParseLoadOptions(int argc, char** argv, std::string* error);

}  // namespace ringway::bench
