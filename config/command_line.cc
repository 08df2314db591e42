#include "config/command_line.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "config/config_fields.h"
#include "config/config_file.h"
#include "config/shard_reader.h"
#include "config/values.h"
#include "config/version.h"

namespace ringway::config {

namespace {

constexpr const char* kFooter = R"(
Examples:
  ringway --config /etc/ringway/ringway.yaml
  ringway --listen 127.0.0.1:6380 --shard a=127.0.0.1:7001 --shard b=127.0.0.1:7002*2
  ringway --dev-shards 3 --set limits.clients=500
  ringway reshard --help    changes the shards of a running ringway, and shows the move of keys

Flags win over the file. SIGHUP reads the file again; SIGTERM drains and ends.)";

// A flag that stands for one option.
struct FieldFlag {
  const char* flag;
  const char* path;
  const char* value_name;
  const char* help;
};

constexpr FieldFlag kFieldFlags[] = {
    {"--threads", "threads", "N", "worker event loops; auto: the processors it may use"},
    {"--dev-shards", "dev_shards", "N", "start and own N local redis-servers, for a first try"},
    {"--http", "http", "ADDRESS", "metrics, health and dashboard"},
    {"--state-file", "state_file", "PATH", "keeps the topology and any move under way across restarts"},
    {"--log-level", "log.level", "LEVEL", "trace, debug, info, warn or error"},
};

constexpr size_t kDevShardsFlag = 1;
static_assert(std::string_view(kFieldFlags[kDevShardsFlag].path) == "dev_shards");

struct Flags {
  std::string config_path;
  std::vector<std::string> listen;
  std::vector<std::string> shards;
  std::vector<std::string> settings;
  std::optional<std::string> values[std::size(kFieldFlags)];
  bool check_config = false;
  bool version = false;
  bool help = false;
};

void Declare(CLI::App* app, Flags* flags) {
  // Help and version are read as plain flags: CLI11's own would end the parse by an exception.
  app->set_help_flag();
  app->footer(kFooter);
  app->add_option("-c,--config", flags->config_path, "the configuration, YAML")->type_name("FILE");
  app->add_option("--listen", flags->listen, "where clients connect; may be repeated")
      ->type_name("HOST:PORT|unix:/PATH")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("--shard", flags->shards, "a Redis server; may be repeated; replaces the file's list")
      ->type_name("NAME=ADDRESS[*WEIGHT]")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("--set", flags->settings, "any option of the file by its path; may be repeated")
      ->type_name("PATH=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  for (size_t i = 0; i < std::size(kFieldFlags); ++i) {
    app->add_option(kFieldFlags[i].flag, flags->values[i], kFieldFlags[i].help)
        ->type_name(kFieldFlags[i].value_name);
  }
  app->add_flag("--check-config", flags->check_config, "says every mistake with its line, and ends");
  app->add_flag("--version", flags->version, "prints the version, and ends");
  app->add_flag("-h,--help", flags->help, "prints this, and ends");
}

void ApplyListen(const Flags& flags, ConfigDraft* draft) {
  if (flags.listen.empty()) return;
  const Field& field = *FindField("listen");
  ClearList(&draft->config, field);
  for (const std::string& address : flags.listen) {
    if (auto error = AddItem(&draft->config, field, address)) {
      draft->problems.push_back({"--listen", *error + ", found " + Quoted(address)});
    }
  }
}

void ApplySetting(const std::string& setting, ConfigDraft* draft) {
  const size_t equals = setting.find('=');
  if (equals == std::string::npos) {
    draft->problems.push_back({"--set", "expected path=value, found " + Quoted(setting)});
    return;
  }
  const std::string path = setting.substr(0, equals);
  const Field* field = FindField(path);
  if (field != nullptr && field->is_secret()) {
    draft->problems.push_back(
        {"--set", path + ": every user of this machine can see it in a command line; expected " +
                      std::string(field->path) + "_file=/path"});
    return;
  }
  SetOption(path, std::string_view(setting).substr(equals + 1), "--set", ReadSecretFile, draft);
}

// Either flag that gives shards replaces whatever the file says about them.
void ForgetShardsOfFile(const Flags& flags, ConfigDraft* draft) {
  if (flags.shards.empty() && !flags.values[kDevShardsFlag]) return;
  draft->config.shards.clear();
  draft->shard_places.clear();
  draft->config.dev_shards = 0;
  draft->shards_where = flags.shards.empty() ? "--dev-shards" : "--shard";
}

ConfigDraft ReadEverything(const Flags& flags) {
  ConfigDraft draft;
  draft.shards_where = flags.config_path;
  if (!flags.config_path.empty()) ReadYamlFile(flags.config_path, &draft);
  ApplyListen(flags, &draft);
  ForgetShardsOfFile(flags, &draft);
  for (const std::string& shard : flags.shards) ReadShardFlag(shard, &draft);
  for (const std::string& setting : flags.settings) ApplySetting(setting, &draft);
  for (size_t i = 0; i < std::size(kFieldFlags); ++i) {
    if (!flags.values[i]) continue;
    SetOption(kFieldFlags[i].path, *flags.values[i], kFieldFlags[i].flag, ReadSecretFile, &draft);
  }
  return draft;
}

std::string DescribeFine(const Config& config) {
  const size_t shards = config.shards.empty() ? static_cast<size_t>(config.dev_shards) : config.shards.size();
  std::string text =
      "configuration is fine: " + std::to_string(shards) + (shards == 1 ? " shard" : " shards");
  text += ", distribution " + std::string(ring::Name(config.ring.distribution)) + ", listening on ";
  return text + Get(config, *FindField("listen")) + "\n";
}

}  // namespace

Result<Invocation> ParseCommandLine(int argc, const char* const* argv) {
  CLI::App app("Ringway: a Redis-compatible sharding cache proxy", "ringway");
  Flags flags;
  Declare(&app, &flags);
  Invocation invocation;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return Result<Invocation>::Failure(
        {{"", std::string(error.what()) + " (ringway --help lists the flags)"}});
  }
  invocation.config_path = flags.config_path;
  if (flags.help) {
    invocation.action = Invocation::Action::kPrintHelp;
    invocation.text_to_print = app.help();
    return invocation;
  }
  if (flags.version) {
    invocation.action = Invocation::Action::kPrintVersion;
    invocation.text_to_print = "ringway " + std::string(kVersion) + "\n";
    return invocation;
  }
  Result<Config> config = FinishDraft(ReadEverything(flags));
  if (!config.ok()) return Result<Invocation>::Failure(config.problems(), config.warnings());
  Problems warnings = config.warnings();
  invocation.config = std::move(config).value();
  if (flags.check_config) {
    invocation.action = Invocation::Action::kCheckConfig;
    invocation.text_to_print = DescribeFine(invocation.config);
  }
  return Result<Invocation>(std::move(invocation), std::move(warnings));
}

}  // namespace ringway::config
