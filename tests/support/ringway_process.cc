#include "tests/support/ringway_process.h"

#include <cstdlib>
#include <sstream>
#include <utility>

namespace ringway::test {

namespace {
constexpr std::string_view kReady = "ready: listening on ";
}  // namespace

std::string RingwayBinary() {
  const char* path = std::getenv("RINGWAY_BINARY");
  return path != nullptr ? path : RINGWAY_BINARY;
}

RingwayProcess::RingwayProcess(std::vector<std::string> arguments, std::vector<std::string> environment,
                               std::vector<std::string> wrapper) {
  std::vector<std::string> command = std::move(wrapper);
  command.push_back(RingwayBinary());
  command.insert(command.end(), arguments.begin(), arguments.end());
  process_.Start(command, directory_.File("log"), environment);
}

bool RingwayProcess::WaitReady(size_t listeners, milliseconds timeout) {
  Eventually([&] { return Addresses().size() >= listeners || !running(); }, timeout);
  return Addresses().size() >= listeners;
}

std::vector<std::string> RingwayProcess::Addresses() const {
  std::vector<std::string> addresses;
  std::istringstream lines(log());
  // Only whole lines: the last one may still be half written.
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    const size_t start = line.find(kReady);
    if (start != std::string::npos) addresses.push_back(line.substr(start + kReady.size()));
  }
  return addresses;
}

std::string RingwayProcess::address() const {
  const auto addresses = Addresses();
  return addresses.empty() ? "" : addresses.front();
}

}  // namespace ringway::test
