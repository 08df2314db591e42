// Any text as a configuration: it is read or refused with problems that have a place, and a configuration
// that is read says the same when its options are printed and set again.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/config_diff.h"
#include "config/config_fields.h"
#include "config/config_file.h"

namespace {

using ringway::config::Config;
using ringway::config::Field;
using ringway::config::Fields;
using ringway::config::Get;
using ringway::config::ParseConfig;
using ringway::config::Problem;
using ringway::config::Result;

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// The disk is not read: the path itself is the secret.
Result<std::string> EchoSecret(const std::string& path) {
  if (path.empty()) return Result<std::string>::Failure({{path, "expected a path"}});
  return path;
}

void CheckRoundTrip(const Config& config) {
  Config copy;
  for (const Field& field : Fields()) {
    if (field.is_secret()) {
      CopyValue(config, field, &copy);
    } else {
      Require(!Set(&copy, field, Get(config, field)), "a printed option is refused");
    }
    Require(SameValue(config, copy, field), "a printed option is read back as another value");
  }
  copy.shards = config.shards;
  Require(Diff(config, copy).empty(), "equal configurations differ");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<Config> config = ParseConfig(text, "f", EchoSecret);
  Require(config.ok() == config.problems().empty(), "neither a configuration nor a problem");
  for (const Problem& problem : config.problems()) {
    Require(problem.where.rfind('f', 0) == 0 && !problem.what.empty(), "a problem without place or text");
  }
  if (!config.ok()) return 0;
  Require(!config.value().shards.empty() || config.value().dev_shards > 0, "no shards");
  Require(!config.value().listen.empty(), "no listener");
  CheckRoundTrip(config.value());
  return 0;
}
