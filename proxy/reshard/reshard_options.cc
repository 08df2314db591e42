#include "proxy/reshard/reshard_options.h"

#include <utility>

#include <CLI/CLI.hpp>

#include "config/address.h"
#include "config/config_file.h"
#include "config/values.h"

namespace ringway::proxy::reshard {

namespace {

using config::Result;

constexpr const char* kFooter = R"(
A CHANGE is ADD name address [WEIGHT w], REMOVE name [FORCE], WEIGHT name w, or REPLACE name address.
Several make one move.

The password is read from --password-file, or from RINGWAY_PASSWORD of the environment.
Exit status: 0 settled, 1 refused, failed or aborted, 2 wrong use or not confirmed, 130 interrupted.
The move is the proxy's own: it goes on when this program ends.

Examples:
  ringway reshard --connect 127.0.0.1:6380 ADD cache4 10.0.0.4:6379
  ringway reshard --connect 127.0.0.1:6380 --yes REMOVE cache1 WEIGHT cache2 2
  ringway reshard --connect 127.0.0.1:6380 --watch)";

constexpr int64_t kMaxPatienceSeconds = 7 * 24 * 3600;

struct Flags {
  std::string connect;
  std::string user;
  std::string password_file;
  std::string pause_on_exit = "no";
  std::string patience = "300";
  std::vector<std::string> change;
  bool yes = false;
  bool watch = false;
  bool help = false;
};

void Declare(CLI::App* app, Flags* flags) {
  app->set_help_flag();
  app->footer(kFooter);
  app->add_option("--connect", flags->connect, "the proxy")->type_name("HOST:PORT|unix:/PATH");
  app->add_option("--user", flags->user, "for AUTH, with a password")->type_name("NAME");
  app->add_option("--password-file", flags->password_file, "holds the proxy's password")->type_name("FILE");
  app->add_flag("--yes", flags->yes, "moves without asking");
  app->add_flag("--watch", flags->watch, "shows the move that is under way, and starts none");
  app->add_option("--pause-on-exit", flags->pause_on_exit, "pauses the move when interrupted by Ctrl-C (no)")
      ->type_name("yes|no");
  app->add_option("--patience", flags->patience, "ends when the proxy has been silent for so long (300)")
      ->type_name("SECONDS");
  app->add_option("CHANGE", flags->change, "what is to change")->type_name("");
  app->add_flag("-h,--help", flags->help, "prints this, and ends");
}

void ReadPassword(const Flags& flags, const std::string& environment_password, config::ShardConfig* proxy,
                  config::Problems* problems) {
  proxy->user = flags.user;
  proxy->password = environment_password;
  if (!flags.password_file.empty()) {
    Result<std::string> secret = config::ReadSecretFile(flags.password_file);
    if (secret.ok()) {
      proxy->password = std::move(secret).value();
    } else {
      problems->insert(problems->end(), secret.problems().begin(), secret.problems().end());
    }
  } else if (!flags.user.empty() && environment_password.empty()) {
    problems->push_back(
        {"--user", "needs a password: --password-file, or RINGWAY_PASSWORD of the environment"});
  }
}

Result<ReshardOptions> Check(const Flags& flags, const std::string& environment_password) {
  ReshardOptions options;
  config::Problems problems;
  if (flags.connect.empty()) {
    problems.push_back({"--connect", "expected the proxy's address, HOST:PORT"});
  } else if (const auto error = config::ParseShardAddress(flags.connect, &options.proxy)) {
    problems.push_back({"--connect", *error + ", found " + config::Quoted(flags.connect)});
  }
  ReadPassword(flags, environment_password, &options.proxy, &problems);
  const auto pause = config::ParseBool(flags.pause_on_exit);
  if (!pause) problems.push_back({"--pause-on-exit", "expected yes or no"});
  options.pause_on_exit = pause.value_or(false);
  const auto patience = config::ParseInteger(flags.patience);
  if (!patience || *patience < 0 || *patience > kMaxPatienceSeconds) {
    problems.push_back({"--patience", "expected seconds, 0 to " + std::to_string(kMaxPatienceSeconds)});
  }
  options.patience_seconds = patience.value_or(0);
  if (flags.watch && !flags.change.empty()) {
    problems.push_back({"--watch", "starts no move, so it takes no change"});
  }
  if (!flags.watch && flags.change.empty()) {
    problems.push_back({"", "expected a change, or --watch (ringway reshard --help shows examples)"});
  }
  if (!problems.empty()) return Result<ReshardOptions>::Failure(std::move(problems));
  options.yes = flags.yes;
  options.watch = flags.watch;
  options.change = flags.change;
  return options;
}

}  // namespace

Result<ReshardOptions> ParseReshardOptions(int argc, const char* const* argv,
                                           const std::string& environment_password) {
  CLI::App app("Changes the shards of a running Ringway, and shows the move of keys until it has settled",
               "ringway reshard");
  Flags flags;
  Declare(&app, &flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return Result<ReshardOptions>::Failure(
        {{"", std::string(error.what()) + " (ringway reshard --help lists the flags)"}});
  }
  if (!flags.help) return Check(flags, environment_password);
  ReshardOptions options;
  options.help = true;
  options.help_text = app.help();
  return options;
}

std::string RedisCliHint(const config::ShardConfig& proxy, const std::string& words) {
  if (proxy.is_unix()) return "redis-cli -s " + proxy.path + " " + words;
  return "redis-cli -h " + proxy.host + " -p " + std::to_string(proxy.port) + " " + words;
}

std::string WatchHint(const config::ShardConfig& proxy) {
  return "ringway reshard --connect " + proxy.address + " --watch";
}

}  // namespace ringway::proxy::reshard
