#include "tests/integration/hot_reads.h"

#include <sstream>

namespace ringway::test {

namespace {

struct Row {
  const char* type;
  CopyOrder order;
  const char* line;
};

constexpr CopyOrder kSame = CopyOrder::kSame;
constexpr CopyOrder kAny = CopyOrder::kAny;
constexpr CopyOrder kChance = CopyOrder::kChance;

// What finds something, what finds nothing in a key that is there, and what is an error.
constexpr Row kReads[] = {
    {"string", kSame, "GET K"},
    {"string", kSame, "GETRANGE K 0 2"},
    {"string", kSame, "GETRANGE K 90 99"},
    {"string", kSame, "SUBSTR K 1 1"},
    {"string", kSame, "STRLEN K"},
    {"string", kSame, "MGET K"},
    {"string", kSame, "MGET K cold K"},
    {"string", kSame, "EXISTS K"},
    {"string", kSame, "EXISTS K cold K"},
    {"string", kSame, "TYPE K"},
    {"string", kSame, "BITCOUNT K"},
    {"string", kSame, "BITCOUNT K 7 9"},
    {"string", kSame, "BITPOS K 1"},
    {"string", kSame, "BITPOS K 0"},
    {"string", kSame, "GETBIT K 1"},
    {"string", kSame, "GETBIT K 9999"},
    {"string", kSame, "BITFIELD_RO K GET u8 0 GET u16 #90"},
    {"string", kSame, "HGET K field"},
    {"string", kSame, "LLEN K"},
    {"string", kSame, "GETRANGE K x y"},
    {"list", kSame, "LRANGE K 0 -1"},
    {"list", kSame, "LRANGE K 90 99"},
    {"list", kSame, "LINDEX K 0"},
    {"list", kSame, "LINDEX K 99"},
    {"list", kSame, "LLEN K"},
    {"list", kSame, "LPOS K b"},
    {"list", kSame, "LPOS K none"},
    {"list", kSame, "LPOS K b RANK 1 COUNT 0"},
    {"list", kSame, "GET K"},
    {"list", kSame, "MGET K"},
    {"list", kSame, "TYPE K"},
    {"hash", kSame, "HGET K f1"},
    {"hash", kSame, "HGET K none"},
    {"hash", kSame, "HMGET K f1 none f2"},
    {"hash", kAny, "HGETALL K"},
    {"hash", kAny, "HKEYS K"},
    {"hash", kAny, "HVALS K"},
    {"hash", kSame, "HLEN K"},
    {"hash", kSame, "HEXISTS K f1"},
    {"hash", kSame, "HEXISTS K none"},
    {"hash", kSame, "HSTRLEN K f1"},
    {"hash", kSame, "HSTRLEN K none"},
    {"hash", kChance, "HRANDFIELD K 1"},
    {"hash", kAny, "HRANDFIELD K 99 WITHVALUES"},
    {"set", kAny, "SMEMBERS K"},
    {"set", kSame, "SCARD K"},
    {"set", kSame, "SISMEMBER K a"},
    {"set", kSame, "SISMEMBER K none"},
    {"set", kSame, "SMISMEMBER K a none"},
    {"set", kSame, "SMISMEMBER K none"},
    {"set", kChance, "SRANDMEMBER K"},
    {"set", kAny, "SRANDMEMBER K 99"},
    {"set", kAny, "SDIFF K"},
    {"set", kAny, "SINTER K"},
    {"set", kAny, "SUNION K"},
    {"set", kSame, "SINTERCARD 1 K LIMIT 2"},
    {"zset", kSame, "ZRANGE K 0 -1 WITHSCORES"},
    {"zset", kSame, "ZRANGE K (9 +inf BYSCORE"},
    {"zset", kSame, "ZRANGEBYSCORE K 1 2"},
    {"zset", kSame, "ZRANGEBYSCORE K 90 99"},
    {"zset", kSame, "ZRANGEBYLEX K - +"},
    {"zset", kSame, "ZREVRANGE K 0 0"},
    {"zset", kSame, "ZREVRANGEBYSCORE K 2 1 WITHSCORES"},
    {"zset", kSame, "ZREVRANGEBYLEX K + -"},
    {"zset", kSame, "ZCARD K"},
    {"zset", kSame, "ZCOUNT K 0 5"},
    {"zset", kSame, "ZCOUNT K 90 99"},
    {"zset", kSame, "ZLEXCOUNT K - +"},
    {"zset", kSame, "ZSCORE K a"},
    {"zset", kSame, "ZSCORE K none"},
    {"zset", kSame, "ZMSCORE K a none"},
    {"zset", kSame, "ZRANK K b"},
    {"zset", kSame, "ZRANK K none"},
    {"zset", kSame, "ZREVRANK K b"},
    {"zset", kChance, "ZRANDMEMBER K"},
    {"zset", kAny, "ZRANDMEMBER K 99"},
    {"zset", kSame, "ZDIFF 1 K"},
    {"zset", kSame, "ZINTER 1 K WITHSCORES"},
    {"zset", kSame, "ZUNION 1 K"},
    {"zset", kSame, "ZINTERCARD 1 K"},
    {"stream", kSame, "XLEN K"},
    {"stream", kSame, "XRANGE K - +"},
    {"stream", kSame, "XRANGE K 9-9 +"},
    {"stream", kSame, "XREVRANGE K + - COUNT 1"},
    {"stream", kSame, "XREAD COUNT 2 STREAMS K 0"},
    {"stream", kSame, "XREAD STREAMS K 9-9"},
    {"stream", kSame, "XPENDING K group"},
    {"stream", kSame, "XPENDING K none"},
    {"log", kSame, "PFCOUNT K"},
    {"log", kSame, "GET K"},
    {"geo", kSame, "GEOPOS K palermo none"},
    {"geo", kSame, "GEODIST K palermo catania km"},
    {"geo", kSame, "GEODIST K palermo none"},
    {"geo", kSame, "GEOHASH K palermo none"},
    {"geo", kSame, "GEOSEARCH K FROMLONLAT 15 37 BYRADIUS 200 km ASC WITHDIST"},
    {"geo", kSame, "GEOSEARCH K FROMLONLAT 0 0 BYRADIUS 1 km ASC"},
    {"geo", kSame, "GEORADIUS_RO K 15 37 200 km ASC WITHCOORD"},
    {"geo", kSame, "GEORADIUSBYMEMBER_RO K palermo 200 km ASC"},
    {"geo", kSame, "GEORADIUSBYMEMBER_RO K none 200 km ASC"},
};

constexpr Row kWrites[] = {
    {"string", kSame, "SET K value"},
    {"list", kSame, "RPUSH K a b c b"},
    {"hash", kSame, "HSET K f1 v1 f2 22 f3 v3"},
    {"set", kSame, "SADD K a b c"},
    {"zset", kSame, "ZADD K 1 a 2 b 2 c"},
    {"stream", kSame, "XADD K 1-1 f v"},
    {"stream", kSame, "XADD K 2-1 f w"},
    {"stream", kSame, "XGROUP CREATE K group 0"},
    {"stream", kSame, "XREADGROUP GROUP group consumer COUNT 1 STREAMS K >"},
    {"log", kSame, "PFADD K a b c"},
    {"geo", kSame, "GEOADD K 13.361389 38.115556 palermo 15.087269 37.502669 catania"},
};

Command Words(const char* line) {
  std::istringstream in(line);
  Command words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace

std::vector<CopyRead> CopyReads() {
  std::vector<CopyRead> reads;
  for (const Row& row : kReads) reads.push_back({row.type, row.order, Words(row.line)});
  return reads;
}

std::vector<CopyType> CopyTypes() {
  std::vector<CopyType> types;
  for (const Row& row : kWrites) {
    if (types.empty() || types.back().name != row.type) types.push_back({row.type, {}});
    types.back().writes.push_back(Words(row.line));
  }
  return types;
}

Command WithKey(Command command, const std::string& key) {
  for (std::string& word : command) {
    if (word == "K") word = key;
  }
  return command;
}

}  // namespace ringway::test
