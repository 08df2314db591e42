// What must be known of commands that wait at their server to end them, to begin them anew elsewhere, and to
// undo what they took for nobody. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/command_table.h"
#include "protocol/request_view.h"

namespace ringway::proxy {

// How long the command may wait, in microseconds; 0: for ever. Nothing where the timeout is no number: the
// server says so.
std::optional<int64_t> BlockingTimeoutUsec(const protocol::CommandRow& row,
                                           const protocol::RequestView& request);

// The command with another timeout, at least one millisecond; `ids`: instead of the stream ids of XREAD, one
// for each key, where they are not empty.
std::string WithTimeout(const protocol::CommandRow& row, const protocol::RequestView& request,
                        int64_t timeout_usec, const std::vector<std::string>& ids);

// The keys that XREAD is to read from what comes next ('$'), by their position among the command's streams.
std::vector<size_t> StreamsReadFromTheEnd(const protocol::CommandRow& row,
                                          const protocol::RequestView& request);

// The command that gives back what `reply` to a blocking pop has taken away; empty if that was nothing, or if
// it is not lost (moved to another list, or pending in a group).
std::string PutBackCommand(const protocol::CommandRow& row, const protocol::RequestView& request,
                           std::string_view reply);

}  // namespace ringway::proxy
