#include "proxy/move/pulled_keys.h"

#include <cstring>
#include <utility>

namespace ringway::proxy {
namespace {

// What a set's node and its share of the table take beside the key.
constexpr size_t kNodeBytes = 64;

}  // namespace

std::string_view PulledKeys::NameOf(uint32_t db, std::string_view key) {
  scratch_.resize(sizeof(db));
  std::memcpy(scratch_.data(), &db, sizeof(db));
  scratch_.append(key);
  return scratch_;
}

void PulledKeys::Add(uint32_t db, std::string_view key) { AddName(NameOf(db, key)); }

void PulledKeys::AddName(std::string_view name) {
  if (!young_.emplace(name).second) return;
  young_bytes_ += name.size() + kNodeBytes;
  if (young_bytes_ < kMaxBytes / 2) return;
  old_ = std::exchange(young_, {});
  young_bytes_ = 0;
}

bool PulledKeys::Has(uint32_t db, std::string_view key) {
  const std::string_view name = NameOf(db, key);
  if (young_.contains(name)) return true;
  if (!old_.contains(name)) return false;
  AddName(name);
  return true;
}

void PulledKeys::Clear() {
  young_ = {};
  old_ = {};
  young_bytes_ = 0;
}

}  // namespace ringway::proxy
