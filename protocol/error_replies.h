// The texts of error replies, each from its code word on, without the '-' and the line end: give them
// to ReplyWriter::Error. Where Redis has a text (7.0), it is Redis's, to the letter: clients match them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ringway::protocol {

// Redis's.
inline constexpr std::string_view kSyntaxError = "ERR syntax error";
inline constexpr std::string_view kNotInteger = "ERR value is not an integer or out of range";
inline constexpr std::string_view kNotFloat = "ERR value is not a valid float";
inline constexpr std::string_view kOutOfRange = "ERR value is out of range";
inline constexpr std::string_view kDbOutOfRange = "ERR DB index is out of range";
inline constexpr std::string_view kInvalidCursor = "ERR invalid cursor";
inline constexpr std::string_view kNoSuchKey = "ERR no such key";
inline constexpr std::string_view kNoSuchClient = "ERR No such client";
inline constexpr std::string_view kMaxClients = "ERR max number of clients reached";
inline constexpr std::string_view kTimeoutNegative = "ERR timeout is negative";
inline constexpr std::string_view kTimeoutNotInteger = "ERR timeout is not an integer or out of range";
inline constexpr std::string_view kTimeoutNotFloat = "ERR timeout is not a float or out of range";
inline constexpr std::string_view kCrossSlot = "CROSSSLOT Keys in request don't hash to the same slot";
inline constexpr std::string_view kWrongType =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view kNoSuchScript = "NOSCRIPT No matching script. Please use EVAL.";

inline constexpr std::string_view kNestedMulti = "ERR MULTI calls can not be nested";
inline constexpr std::string_view kExecWithoutMulti = "ERR EXEC without MULTI";
inline constexpr std::string_view kDiscardWithoutMulti = "ERR DISCARD without MULTI";
inline constexpr std::string_view kWatchInsideMulti = "ERR WATCH inside MULTI is not allowed";
inline constexpr std::string_view kNotInTransaction = "ERR Command not allowed inside a transaction";
inline constexpr std::string_view kExecAbort = "EXECABORT Transaction discarded because of previous errors.";

inline constexpr std::string_view kAuthRequired = "NOAUTH Authentication required.";
inline constexpr std::string_view kHelloNoAuth =
    "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> "
    "<pass> option can be used to authenticate the client and select the RESP protocol version at the same "
    "time";
inline constexpr std::string_view kWrongPass =
    "WRONGPASS invalid username-password pair or user is disabled.";
inline constexpr std::string_view kAuthWithoutPassword =
    "ERR AUTH <password> called without any password configured for the default user. Are you sure your "
    "configuration is correct?";
inline constexpr std::string_view kNoPermissionForKey =
    "NOPERM this user has no permissions to access one of the keys used as arguments";
inline constexpr std::string_view kNoPermissionForChannel =
    "NOPERM this user has no permissions to access one of the channels used as arguments";
inline constexpr std::string_view kNoProto = "NOPROTO unsupported protocol version";
inline constexpr std::string_view kProtocolVersionNotInteger =
    "ERR Protocol version is not an integer or out of range";

// `name`: the command's full name in lower case; a subcommand's is "config|get".
std::string WrongArity(std::string_view name);
std::string NoPermissionForCommand(std::string_view name);
std::string NotInSubscribedContext(std::string_view name);
std::string ExecAborted(std::string_view why);
std::string HelloSyntaxError(std::string_view option);

// `name` as the client wrote it, `args` what followed it. Quotes the first 128 bytes of each, up to a
// NUL, and puts spaces for line ends.
std::string UnknownCommand(std::string_view name, std::span<const std::string_view> args);

// A subcommand that its container does not have; `container` in any case.
std::string UnknownSubcommand(std::string_view container, std::string_view subcommand);

// The same, or its arguments do not fit.
std::string SubcommandSyntaxError(std::string_view container, std::string_view subcommand);

// Ringway's own: one word, and a sentence for the reader.
inline constexpr std::string_view kRingBusy = "RINGBUSY a move is under way";

std::string ShardDown(std::string_view shard, std::string_view address);
std::string ShardTimeout(std::string_view shard, std::string_view address, long timeout_ms);
std::string MoveFail(std::string_view why);

}  // namespace ringway::protocol
