#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace ringway::proxy {

// One database of a shard, as its line in `# Keyspace` tells it.
struct DbFacts {
  uint64_t keys = 0;
  uint64_t expires = 0;
  uint64_t avg_ttl = 0;  // milliseconds, over the keys that expire
};

// What a shard's INFO says. Lines that are none of INFO's, and figures that are none, are passed over: a
// shard may be of any version, or no Redis at all. Thread: a value, any. Owns: the fields. Limits: kMaxBytes,
// kMaxLineBytes.
class ShardInfo {
 public:
  // A server with every section and hundreds of commands' statistics stays far below; what is beyond is not
  // read.
  static constexpr size_t kMaxBytes = size_t{4} * 1024 * 1024;
  static constexpr size_t kMaxLineBytes = 4096;

  // `text`: INFO's reply without its RESP framing.
  static ShardInfo Parse(std::string_view text);

  // Empty where the shard did not tell.
  std::string_view Text(std::string_view field) const;
  // 0 where the shard did not tell, or told no number of 64 bits without a sign.
  uint64_t Number(std::string_view field) const;
  const std::map<uint32_t, DbFacts>& databases() const { return databases_; }
  // Over all databases.
  uint64_t keys() const;

 private:
  void TakeLine(std::string_view line);

  std::map<std::string, std::string, std::less<>> fields_;
  std::map<uint32_t, DbFacts> databases_;
};

}  // namespace ringway::proxy
