#include "proxy/route/script_cache.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

#include <openssl/sha.h>

namespace ringway::proxy {

std::string ScriptSha(std::string_view body) {
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest;
  SHA1(reinterpret_cast<const unsigned char*>(body.data()), body.size(), digest.data());
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text.push_back(kHex[byte >> 4]);
    text.push_back(kHex[byte & 15]);
  }
  return text;
}

void ScriptCache::Remember(std::string_view body) {
  if (body.size() > kMaxBytes) return;
  std::string sha = ScriptSha(body);
  MutexLock lock(mutex_);
  if (const auto found = by_sha_.find(sha); found != by_sha_.end()) {
    scripts_.splice(scripts_.begin(), scripts_, found->second);
    return;
  }
  scripts_.push_front(Script{std::move(sha), std::string(body)});
  by_sha_.emplace(scripts_.front().sha, scripts_.begin());
  bytes_ += body.size();
  while (bytes_ > kMaxBytes) {
    bytes_ -= scripts_.back().body.size();
    by_sha_.erase(scripts_.back().sha);
    scripts_.pop_back();
    RaiseGeneration();
  }
}

std::optional<std::string> ScriptCache::Find(std::string_view sha) {
  std::string lower;
  std::transform(sha.begin(), sha.end(), std::back_inserter(lower),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  MutexLock lock(mutex_);
  const auto found = by_sha_.find(lower);
  if (found == by_sha_.end()) return std::nullopt;
  scripts_.splice(scripts_.begin(), scripts_, found->second);
  return found->second->body;
}

std::vector<std::string> ScriptCache::All() {
  MutexLock lock(mutex_);
  std::vector<std::string> bodies;
  for (const Script& script : scripts_) bodies.push_back(script.body);
  return bodies;
}

void ScriptCache::Clear() {
  MutexLock lock(mutex_);
  by_sha_.clear();
  scripts_.clear();
  bytes_ = 0;
  // Last: a script that is shown before this is shown again after it.
  RaiseGeneration();
}

}  // namespace ringway::proxy
