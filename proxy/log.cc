#include "proxy/log.h"

#include <memory>
#include <string>
#include <utility>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace ringway::proxy {

void LogDebug(std::string_view line) { spdlog::debug(line); }
void LogInfo(std::string_view line) { spdlog::info(line); }
void LogWarn(std::string_view line) { spdlog::warn(line); }
void LogError(std::string_view line) { spdlog::error(line); }

bool OpenLog(const config::Log& log, std::string* error) {
  try {
    std::shared_ptr<spdlog::sinks::sink> sink;
    if (log.file.empty()) {
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(log.file);
    }
    auto logger = std::make_shared<spdlog::logger>("ringway", std::move(sink));
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
    logger->flush_on(spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
  } catch (const spdlog::spdlog_ex& failure) {
    *error = failure.what();
    return false;
  }
  SetLogLevel(log.level);
  return true;
}

void SetLogLevel(config::LogLevel level) {
  switch (level) {
    case config::LogLevel::kTrace:
      return spdlog::set_level(spdlog::level::trace);
    case config::LogLevel::kDebug:
      return spdlog::set_level(spdlog::level::debug);
    case config::LogLevel::kInfo:
      return spdlog::set_level(spdlog::level::info);
    case config::LogLevel::kWarn:
      return spdlog::set_level(spdlog::level::warn);
    case config::LogLevel::kError:
      return spdlog::set_level(spdlog::level::err);
  }
}

}  // namespace ringway::proxy
