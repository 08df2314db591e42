#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/result.h"
#include "proxy/control/control_thread.h"
#include "proxy/control/dev_shards.h"
#include "proxy/proxy_state.h"
#include "proxy/worker.h"

namespace ringway::proxy {

// The whole program: listeners, workers, the control thread, signals.
// Thread: the main thread. Owns: everything.
class ProxyServer {
 public:
  // `reload` reads the configuration again, on SIGHUP.
  using Reload = std::function<config::Result<config::Config>()>;
  ProxyServer(config::Config config, std::string config_path, Reload reload);
  ~ProxyServer();
  ProxyServer(const ProxyServer&) = delete;
  ProxyServer& operator=(const ProxyServer&) = delete;

  // Serves until SIGTERM or SIGINT, then drains. The program's exit code.
  int Run();

 private:
  std::string StartDevShards();
  std::string Prepare();
  std::string OpenListeners();
  std::string ListenOn(const config::ListenAddress& address);
  void PrintReady() const;
  void PrintFirstSteps() const;
  void WaitForSignals();
  void ReloadConfig();
  void Drain();

  config::Config start_config_;
  std::string config_path_;
  Reload reload_;
  DevShards dev_shards_;
  std::unique_ptr<ProxyState> state_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<ControlThread> control_;
  std::vector<std::string> unix_paths_;
  std::vector<std::shared_ptr<UniqueFd>> unix_sockets_;
};

}  // namespace ringway::proxy
