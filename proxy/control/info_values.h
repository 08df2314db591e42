#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ringway::proxy {

// The value of "name:value" in the text of INFO; empty if it is not there.
std::string_view InfoValue(std::string_view info, std::string_view name);

// A line of INFO keyspace: "db0:keys=3,expires=1,avg_ttl=0".
struct KeyspaceLine {
  uint32_t database;
  uint64_t keys;
};

// The databases that have keys, in the server's order. Lines that are none are passed over.
std::vector<KeyspaceLine> ReadKeyspace(std::string_view info);

}  // namespace ringway::proxy
