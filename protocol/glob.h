#pragma once

#include <string_view>

namespace ringway::protocol {

enum class GlobCase : bool { kSensitive, kIgnore };

// Whether `text` matches a pattern as KEYS, PSUBSCRIBE and CONFIG GET take them: `*`, `?`, `[a-z]`,
// `[^a]`, `\` before a character that is meant literally. The facts, oddities included, are those of
// Redis's stringmatchlen: the empty text matches the empty pattern only (not even `*`), a class that is
// not closed runs to the end, an escaped character of a class minds its case always, ranges compare
// signed bytes. Only the last `*` is ever tried again, so the work is at most |pattern| * |text|.
bool GlobMatch(std::string_view pattern, std::string_view text, GlobCase mind = GlobCase::kSensitive);

}  // namespace ringway::protocol
