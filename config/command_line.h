// Flags of the program. Flags win over the file; a reload calls this again with the same arguments.
#ifndef RINGWAY_CONFIG_COMMAND_LINE_H_
#define RINGWAY_CONFIG_COMMAND_LINE_H_

#include <string>

#include "config/config.h"
#include "config/result.h"

namespace ringway::config {

struct Invocation {
  enum class Action { kRun, kCheckConfig, kPrintVersion, kPrintHelp };

  Action action = Action::kRun;
  Config config;              // valid for kRun and kCheckConfig
  std::string config_path;    // empty when no file was named
  std::string text_to_print;  // everything but kRun; ends with a line feed
  int exit_code = 0;          // when nothing is run
};

// argv[0] is the program. A failure of --check-config is a failure here too: print the problems, exit 1.
Result<Invocation> ParseCommandLine(int argc, const char* const* argv);

}  // namespace ringway::config

#endif  // RINGWAY_CONFIG_COMMAND_LINE_H_
