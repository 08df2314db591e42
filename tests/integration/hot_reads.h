// Every command that a copy of a key may answer.
#pragma once

#include <string>
#include <vector>

#include "tests/support/resp_client.h"

namespace ringway::test {

// How the answers of a key and of its copy are compared.
enum class CopyOrder {
  kSame,  // byte for byte
  kAny,   // the same elements: each server hashes with a seed of its own
  kChance
};

struct CopyRead {
  std::string type;  // one of CopyTypes
  CopyOrder order;
  Command command;  // with "K" in the place of the key
};

// All reads, at least one for each command.
std::vector<CopyRead> CopyReads();

// Types of values, with the commands that make one of each under "K".
struct CopyType {
  std::string name;
  std::vector<Command> writes;
};
std::vector<CopyType> CopyTypes();

// The command on this key.
Command WithKey(Command command, const std::string& key);

}  // namespace ringway::test
