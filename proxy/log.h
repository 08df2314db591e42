#pragma once

#include <string_view>

#include "config/config.h"

namespace ringway::proxy {

// One line for each change of state, never one for each request, and never a secret. A thin door to spdlog,
// so that its headers are compiled once. Thread: any.
void LogDebug(std::string_view line);
void LogInfo(std::string_view line);
void LogWarn(std::string_view line);
void LogError(std::string_view line);

// Where lines go and which; an empty file name is standard error. False with the reason in `error`.
bool OpenLog(const config::Log& log, std::string* error);
void SetLogLevel(config::LogLevel level);

}  // namespace ringway::proxy
