// What COMMAND tells clients about commands, in Redis's words and shape.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "protocol/command_table.h"
#include "protocol/reply_writer.h"

namespace ringway::protocol {

// Names in the order of the bits of CommandFlag, AclCategory (without '@') and KeyFlag. Flags that
// Redis does not show have bits beyond CommandFlagNames.
std::span<const std::string_view> CommandFlagNames();
std::span<const std::string_view> AclCategoryNames();
std::span<const std::string_view> KeyFlagNames();

// The bit of a name of one of these lists, in any case; nothing if it is none.
std::optional<uint32_t> BitOf(std::span<const std::string_view> names, std::string_view name);

// The entry of COMMAND and COMMAND INFO for `row`, its subcommands included. (An unknown command's
// entry is ReplyWriter::Null.) Redis's remarks on key specifications ("notes") are left out.
void WriteCommandInfo(const CommandRow& row, ReplyWriter& out);

// The same for a row of LearnedCommands, whose subcommands are not in the table.
void WriteCommandInfo(const CommandRow& row, std::span<const CommandRow> subcommands, ReplyWriter& out);

}  // namespace ringway::protocol
