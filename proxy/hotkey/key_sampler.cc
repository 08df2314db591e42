#include "proxy/hotkey/key_sampler.h"

#include "proxy/hotkey/bucket_name.h"

namespace ringway::proxy {

void KeySampler::set_enabled(bool enabled) {
  if (enabled == enabled_) return;
  enabled_ = enabled;
  countdown_ = enabled ? Distance() : kNever;
}

void KeySampler::Take(uint32_t db, std::string_view key, bool read) {
  countdown_ = enabled_ ? Distance() : kNever;
  if (!enabled_ || IsBucketName(key)) return;
  const uint64_t hash = HeavyHitters::HashOf(db, key);
  if (hitters_.Knows(hash, db, key) || doorkeeper_.Knock(hash)) {
    hitters_.Add(hash, db, key, read);
  } else {
    hitters_.AddOther();
  }
}

KeyReport KeySampler::TakeReport() {
  KeyReport report = hitters_.Report(kLeastReported, kMaxReported);
  hitters_.Halve();
  return report;
}

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
uint32_t KeySampler::Distance() {
  uint64_t z = random_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  const uint64_t bits = (z ^ (z >> 31)) >> 32;
  return 1 + static_cast<uint32_t>((bits * (2 * kSampling - 1)) >> 32);
}

}  // namespace ringway::proxy
