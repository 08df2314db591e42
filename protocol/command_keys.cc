#include "protocol/command_keys.h"

#include <cstdlib>
#include <optional>
#include <string>

#include "protocol/command_name.h"
#include "protocol/number_text.h"

// Redis has two ways to find keys: the specifications that COMMAND publishes, and a function per
// command where those fall short. COMMAND GETKEYS asks the first and, if that fails, the second, and
// so does this file. It departs from them in three places, in favour of the keys that the command will
// really use, because a request sent by other keys would run on the wrong shard:
//   - GEORADIUS obeys the last of several STORE options; here all of them are keys, there the first.
//   - XREADGROUP's group or consumer may itself be called "STREAMS"; there that word misleads.
//   - PFMERGE may do without sources; there its target is then no key either.
namespace ringway::protocol {
namespace {

bool Is(const RequestView& request, size_t index, std::string_view option) {
  return EqualsIgnoringCase(request[index], option);
}

// Every `step`-th argument from first to last; false, and none, if they are not all arguments.
bool AddRange(const RequestView& request, int64_t first, int64_t last, int64_t step, KeyList* keys) {
  const auto argc = static_cast<int64_t>(request.size());
  if (first < 1 || first >= argc || last < first || last >= argc || step < 1) return false;
  for (int64_t i = first; i <= last; i += step) keys->Add(static_cast<size_t>(i));
  return true;
}

// The argument behind the specification's keyword; 0 if it is not there.
int64_t FindKeyword(const KeySpec& spec, const RequestView& request) {
  const auto argc = static_cast<int64_t>(request.size());
  const auto matches = [&](int64_t i) {
    return EqualsIgnoringCase(request[static_cast<size_t>(i)], spec.keyword);
  };
  if (spec.position > 0) {
    for (int64_t i = spec.position; i < argc; ++i) {
      if (matches(i)) return i + 1;
    }
  } else {
    for (int64_t i = argc + spec.position; i > 1; --i) {
      if (i < argc && matches(i)) return i + 1;
    }
  }
  return 0;
}

bool AddCounted(const KeySpec& spec, const RequestView& request, int64_t begin, KeyList* keys) {
  const int64_t number_at = begin + spec.number_index;
  if (number_at < 1 || number_at >= static_cast<int64_t>(request.size())) return false;
  const std::optional<int64_t> count = ParseInt64(request[static_cast<size_t>(number_at)]);
  if (!count || *count < 0) return false;
  const int64_t first = begin + spec.first_key;
  // The server keeps the count in 32 bits.
  return AddRange(request, first, first + static_cast<int32_t>(*count) - 1, spec.step, keys);
}

bool AddSpec(const KeySpec& spec, const RequestView& request, KeyList* keys) {
  if (spec.flags & kNotKey) return true;
  int64_t begin = spec.position;
  if (spec.begin == KeySpec::Begin::kKeyword) {
    begin = FindKeyword(spec, request);
    if (begin == 0) return true;  // an option that is not given
  }
  if (spec.begin == KeySpec::Begin::kUnknown || spec.find == KeySpec::Find::kUnknown) return false;
  if (spec.find == KeySpec::Find::kKeynum) return AddCounted(spec, request, begin, keys);
  const auto argc = static_cast<int64_t>(request.size());
  int64_t last = begin + spec.last;
  if (spec.last < 0) {
    last = spec.limit == 0 ? argc + spec.last : begin + (argc - begin) / spec.limit + spec.last;
  }
  return AddRange(request, begin, last, spec.step, keys);
}

bool AddSpecs(const CommandRow& row, const RequestView& request, KeyList* keys) {
  for (const KeySpec& spec : row.keys) {
    if (AddSpec(spec, request, keys)) continue;
    keys->Clear();
    return false;
  }
  return true;
}

// C's atoi, which the server falls back to for a count that it could not parse ("1x" counts as 1).
// The command itself then refuses the count, so this decides only which shard says so.
int64_t ParseLeniently(std::string_view text) {
  const std::string terminated(text.substr(0, 64));
  return static_cast<int32_t>(std::strtoll(terminated.c_str(), nullptr, 10));
}

KeyStatus FindCounted(const CommandRow& row, const RequestView& request, KeyList* keys) {
  if (AddSpecs(row, request, keys)) return keys->empty() ? KeyStatus::kNoKeys : KeyStatus::kOk;
  for (const KeySpec& spec : row.keys) {
    const size_t number_at = static_cast<size_t>(spec.position + spec.number_index);
    if (spec.find != KeySpec::Find::kKeynum || spec.begin != KeySpec::Begin::kIndex) continue;
    if (number_at >= request.size()) return KeyStatus::kInvalid;
    const std::string_view number = request[number_at];
    if (number == "0" && (row.flags & kNoMandatoryKeys)) return KeyStatus::kNoKeys;
    const int64_t first = spec.position + spec.first_key;
    if (!AddRange(request, first, first + ParseLeniently(number) - 1, 1, keys)) return KeyStatus::kInvalid;
    if (row.first_key > 0 && row.first_key < static_cast<int>(request.size()))
      keys->Add(static_cast<size_t>(row.first_key));  // ZUNIONSTORE's target
    return KeyStatus::kOk;
  }
  return KeyStatus::kInvalid;
}

// GEORADIUS key ... [STORE key] [STOREDIST key]
KeyStatus FindStore(const CommandRow& row, const RequestView& request, KeyList* keys) {
  if (request.size() < 2) return KeyStatus::kInvalid;
  keys->Add(1);
  for (const std::string_view option : {"store", "storedist"}) {
    for (size_t i = static_cast<size_t>(row.keys[1].position); i + 1 < request.size(); ++i) {
      if (!Is(request, i, "store") && !Is(request, i, "storedist")) continue;
      if (Is(request, i, option)) keys->Add(i + 1);
      ++i;
    }
  }
  return KeyStatus::kOk;
}

// XREAD [COUNT n] [BLOCK ms] STREAMS key ... id ... and XREADGROUP GROUP group consumer ... alike.
// The options must be walked, since any of their values may read "STREAMS". Returns where the
// keys begin, 0 if the options are wrong.
size_t StreamsBegin(const RequestView& request) {
  for (size_t i = 1; i < request.size(); ++i) {
    if (Is(request, i, "streams")) return i + 1;
    if (Is(request, i, "block") || Is(request, i, "count")) {
      i += 1;
    } else if (Is(request, i, "group")) {
      i += 2;
    } else if (!Is(request, i, "noack")) {
      return 0;
    }
  }
  return 0;
}

KeyStatus FindStreams(const CommandRow& row, const RequestView& request, KeyList* keys) {
  const size_t begin = StreamsBegin(request);
  if (begin == 0) {
    return AddSpecs(row, request, keys) && !keys->empty() ? KeyStatus::kOk : KeyStatus::kInvalid;
  }
  const size_t count = (request.size() - begin) / 2;
  for (size_t i = 0; i < count; ++i) keys->Add(begin + i);
  return count == 0 ? KeyStatus::kInvalid : KeyStatus::kOk;
}

// SORT key [BY pattern] [LIMIT offset count] [GET pattern ...] [ASC|DESC] [ALPHA] [STORE key]; the
// last STORE counts.
KeyStatus FindSort(const RequestView& request, KeyList* keys) {
  if (request.size() < 2) return KeyStatus::kInvalid;
  keys->Add(1);
  size_t store = 0;
  for (size_t i = 2; i < request.size(); ++i) {
    if (Is(request, i, "limit")) {
      i += 2;
    } else if (Is(request, i, "get") || Is(request, i, "by")) {
      i += 1;
    } else if (Is(request, i, "store") && i + 1 < request.size()) {
      store = i + 1;
    }
  }
  if (store != 0) keys->Add(store);
  return KeyStatus::kOk;
}

// MIGRATE host port key|"" db timeout [COPY] [REPLACE] [AUTH password] [AUTH2 user password]
// [KEYS key ...]
KeyStatus FindMigrate(const CommandRow& row, const RequestView& request, KeyList* keys) {
  if (request.size() < 6) return KeyStatus::kInvalid;
  const KeySpec& keys_option = row.keys[1];
  for (size_t i = 6; i < request.size() && FindKeyword(keys_option, request) != 0; ++i) {
    if (Is(request, i, "keys")) {
      const auto argc = static_cast<int64_t>(request.size());
      const bool listed =
          request[3].empty() && AddRange(request, static_cast<int64_t>(i) + 1, argc - 1, 1, keys);
      return listed ? KeyStatus::kOk : KeyStatus::kInvalid;
    }
    if (Is(request, i, "auth")) {
      i += 1;
    } else if (Is(request, i, "auth2")) {
      i += 2;
    }
  }
  keys->Add(3);
  return KeyStatus::kOk;
}

}  // namespace

KeyStatus internal::FindKeysSlowly(const CommandRow& row, const RequestView& request, KeyList* keys) {
  const auto argc = static_cast<int64_t>(request.size());
  switch (row.key_kind) {
    case KeyKind::kNone:
      return KeyStatus::kNoKeys;
    case KeyKind::kFirst:
      return KeyStatus::kInvalid;  // it is missing, or FindKeys had answered
    case KeyKind::kRange: {
      const int64_t last = row.last_key < 0 ? argc + row.last_key : row.last_key;
      return AddRange(request, row.first_key, last, row.key_step, keys) ? KeyStatus::kOk
                                                                        : KeyStatus::kInvalid;
    }
    case KeyKind::kSpecs:
      return FindCounted(row, request, keys);
    case KeyKind::kStore:
      return FindStore(row, request, keys);
    case KeyKind::kStreams:
      return FindStreams(row, request, keys);
    case KeyKind::kSort:
      return FindSort(request, keys);
    case KeyKind::kMigrate:
      return FindMigrate(row, request, keys);
    case KeyKind::kAskServer:
      return KeyStatus::kAskServer;
  }
  return KeyStatus::kInvalid;
}

void FindSortPatterns(const RequestView& request, KeyList* patterns) {
  patterns->Clear();
  for (size_t i = 2; i + 1 < request.size(); ++i) {
    if (Is(request, i, "limit")) {
      i += 2;
    } else if (Is(request, i, "store")) {
      i += 1;
    } else if (Is(request, i, "by") || Is(request, i, "get")) {
      ++i;
      if (request[i].find('*') != std::string_view::npos) patterns->Add(i);
    }
  }
}

bool MayBlock(const CommandRow& row, const RequestView& request) {
  if ((row.flags & kBlocking) == 0) return false;
  if (row.key_kind != KeyKind::kStreams) return true;
  for (size_t i = 1; i < request.size(); ++i) {
    if (EqualsIgnoringCase(request[i], "block")) return true;
    if (EqualsIgnoringCase(request[i], "streams")) return false;
  }
  return false;
}

}  // namespace ringway::protocol
