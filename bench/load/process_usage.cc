#include "bench/load/process_usage.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <system_error>

#include <unistd.h>

namespace ringway::bench {
namespace {

namespace fs = std::filesystem;

uint64_t ReadSchedstat(const fs::path& task) {
  uint64_t nanoseconds = 0;
  std::ifstream(task / "schedstat") >> nanoseconds;
  return nanoseconds;
}

uint64_t ReadTicks(const fs::path& task) {
  std::ifstream file(task / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');  // the name itself may hold spaces and brackets
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;  // state .. cmajflt
  uint64_t user = 0;
  uint64_t system = 0;
  fields >> user >> system;
  return (user + system) * 1000000000u / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
}

void AddSwitches(const fs::path& task, ProcessUsage* usage) {
  std::ifstream file(task / "status");
  std::string name;
  while (file >> name) {
    uint64_t count = 0;
    if (name == "voluntary_ctxt_switches:" && file >> count) usage->voluntary_switches += count;
    if (name == "nonvoluntary_ctxt_switches:" && file >> count) usage->involuntary_switches += count;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
}

}  // namespace

std::optional<ProcessUsage> ReadProcessUsage(int pid) {
  std::error_code error;
  fs::directory_iterator tasks("/proc/" + std::to_string(pid) + "/task", error);
  if (error) return std::nullopt;
  ProcessUsage usage;
  for (; tasks != fs::directory_iterator(); tasks.increment(error)) {
    const uint64_t precise = ReadSchedstat(tasks->path());
    usage.cpu_ns += precise != 0 ? precise : ReadTicks(tasks->path());
    AddSwitches(tasks->path(), &usage);
    if (error) break;
  }
  return usage;
}

}  // namespace ringway::bench
