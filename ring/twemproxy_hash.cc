// The twelve hashes that twemproxy 0.5 offers, bit for bit, quirks included. Their origins: one_at_a_time and
// lookup3 ("jenkins") by Bob Jenkins, FNV by Fowler, Noll and Vo, MurmurHash2 by Austin Appleby,
// SuperFastHash
// ("hsieh") by Paul Hsieh, the CRCs and MD5 from their standards. Where twemproxy departs from the original,
// the function says so; a user who moves here from twemproxy must find every key where it was.

#include <array>
#include <bit>

#include "ring/key_hash.h"
#include "ring/md5.h"

namespace ringway::ring {
namespace {

uint32_t Unsigned(char c) { return static_cast<unsigned char>(c); }

// Departure: twemproxy reads bytes as signed char on the machines it is used on, so 0x80..0xff become
// 0xffffff80..0xffffffff.
uint32_t SignExtended(char c) {
  return static_cast<uint32_t>(static_cast<int32_t>(static_cast<signed char>(c)));
}

uint32_t Load16(const char* p) { return Unsigned(p[0]) | Unsigned(p[1]) << 8; }

uint32_t Load32(const char* p) { return Load16(p) | Load16(p + 2) << 16; }

// Up to four bytes, missing ones zero.
uint32_t LoadPartial(const char* p, size_t count) {
  uint32_t word = 0;
  for (size_t i = 0; i < count && i < 4; ++i) word |= Unsigned(p[i]) << (8 * i);
  return word;
}

// CRC-16/XMODEM's table, most significant bit first.
constexpr std::array<uint32_t, 256> MakeCrc16Table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc & 0x8000) != 0 ? 0x1021 : 0);
    table[byte] = crc & 0xffff;
  }
  return table;
}

// CRC-32 of IEEE 802.3, least significant bit first.
constexpr std::array<uint32_t, 256> MakeCrc32Table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kCrc16Table = MakeCrc16Table();
constexpr std::array<uint32_t, 256> kCrc32Table = MakeCrc32Table();

uint32_t OneAtATime(std::string_view key) {
  uint32_t hash = 0;
  for (char c : key) {
    hash += SignExtended(c);
    hash += hash << 10;
    hash ^= hash >> 6;
  }
  hash += hash << 3;
  hash ^= hash >> 11;
  hash += hash << 15;
  return hash;
}

uint32_t Md5(std::string_view key) { return Md5Words(key)[0]; }

// Departure: the register is 32 bits wide and never cut to 16, so old bits stay above the checksum.
uint32_t Crc16(std::string_view key) {
  uint32_t crc = 0;
  for (char c : key) crc = (crc << 8) ^ kCrc16Table[((crc >> 8) ^ Unsigned(c)) & 0xff];
  return crc;
}

uint32_t Crc32a(std::string_view key) {
  uint32_t crc = 0xffffffff;
  for (char c : key) crc = (crc >> 8) ^ kCrc32Table[(crc ^ Unsigned(c)) & 0xff];
  return ~crc;
}

// Departure, inherited from libmemcached: 15 bits of the checksum only.
uint32_t Crc32(std::string_view key) { return (Crc32a(key) >> 16) & 0x7fff; }

constexpr uint32_t kFnv32Offset = 0x811c9dc5;
constexpr uint32_t kFnv32Prime = 0x01000193;
// Departure: of the 64-bit variants twemproxy keeps the low 32 bits, and those depend on low bits alone.
constexpr uint32_t kFnv64OffsetLow = 0x84222325;
constexpr uint32_t kFnv64PrimeLow = 0x000001b3;

template <uint32_t kOffset, uint32_t kPrime>
uint32_t Fnv1(std::string_view key) {
  uint32_t hash = kOffset;
  for (char c : key) hash = (hash * kPrime) ^ SignExtended(c);
  return hash;
}

template <uint32_t kOffset, uint32_t kPrime>
uint32_t Fnv1a(std::string_view key) {
  uint32_t hash = kOffset;
  for (char c : key) hash = (hash ^ SignExtended(c)) * kPrime;
  return hash;
}

// Departures: starts from 0 instead of the length; the third byte of a three-byte tail is sign-extended, the
// byte of a one-byte tail is not.
uint32_t Hsieh(std::string_view key) {
  uint32_t hash = 0;
  const char* p = key.data();
  for (size_t blocks = key.size() / 4; blocks > 0; --blocks, p += 4) {
    hash += Load16(p);
    hash = (hash << 16) ^ ((Load16(p + 2) << 11) ^ hash);
    hash += hash >> 11;
  }
  switch (key.size() % 4) {
    case 3:
      hash += Load16(p);
      hash ^= hash << 16;
      hash ^= SignExtended(p[2]) << 18;
      hash += hash >> 11;
      break;
    case 2:
      hash += Load16(p);
      hash ^= hash << 11;
      hash += hash >> 17;
      break;
    case 1:
      hash += Unsigned(p[0]);
      hash ^= hash << 10;
      hash += hash >> 1;
      break;
    default:
      break;
  }
  hash ^= hash << 3;
  hash += hash >> 5;
  hash ^= hash << 4;
  hash += hash >> 17;
  hash ^= hash << 25;
  hash += hash >> 6;
  return hash;
}

// MurmurHash2. Departure: the seed depends on the length.
uint32_t Murmur(std::string_view key) {
  constexpr uint32_t kMultiplier = 0x5bd1e995;
  const uint32_t length = static_cast<uint32_t>(key.size());
  uint32_t hash = (0xdeadbeef * length) ^ length;
  const char* p = key.data();
  size_t left = key.size();
  for (; left >= 4; left -= 4, p += 4) {
    uint32_t k = Load32(p) * kMultiplier;
    k = (k ^ (k >> 24)) * kMultiplier;
    hash = (hash * kMultiplier) ^ k;
  }
  if (left > 0) hash = (hash ^ LoadPartial(p, left)) * kMultiplier;
  hash = (hash ^ (hash >> 13)) * kMultiplier;
  return hash ^ (hash >> 15);
}

// lookup3's hashlittle with initval 13.
uint32_t Jenkins(std::string_view key) {
  constexpr uint32_t kInitval = 13;
  uint32_t a = 0xdeadbeef + static_cast<uint32_t>(key.size()) + kInitval;
  uint32_t b = a;
  uint32_t c = a;
  const auto step = [](uint32_t& x, uint32_t& y, uint32_t& z, int turn) {
    x -= z;
    x ^= std::rotl(z, turn);
    z += y;
  };
  const auto fold = [](uint32_t& x, uint32_t y, int turn) { x = (x ^ y) - std::rotl(y, turn); };

  const char* p = key.data();
  size_t left = key.size();
  for (; left > 12; left -= 12, p += 12) {
    a += Load32(p);
    b += Load32(p + 4);
    c += Load32(p + 8);
    step(a, b, c, 4);
    step(b, c, a, 6);
    step(c, a, b, 8);
    step(a, b, c, 16);
    step(b, c, a, 19);
    step(c, a, b, 4);
  }
  if (left == 0) return c;
  a += LoadPartial(p, left);
  if (left > 4) b += LoadPartial(p + 4, left - 4);
  if (left > 8) c += LoadPartial(p + 8, left - 8);
  fold(c, b, 14);
  fold(a, c, 11);
  fold(b, a, 25);
  fold(c, b, 16);
  fold(a, c, 4);
  fold(b, a, 14);
  fold(c, b, 24);
  return c;
}

}  // namespace

Hash32 Hash32Of(HashFunction hash) {
  switch (hash) {
    case HashFunction::kXxh3:
      return nullptr;
    case HashFunction::kOneAtATime:
      return OneAtATime;
    case HashFunction::kMd5:
      return Md5;
    case HashFunction::kCrc16:
      return Crc16;
    case HashFunction::kCrc32:
      return Crc32;
    case HashFunction::kCrc32a:
      return Crc32a;
    case HashFunction::kFnv1_64:
      return Fnv1<kFnv64OffsetLow, kFnv64PrimeLow>;
    case HashFunction::kFnv1a_64:
      return Fnv1a<kFnv64OffsetLow, kFnv64PrimeLow>;
    case HashFunction::kFnv1_32:
      return Fnv1<kFnv32Offset, kFnv32Prime>;
    case HashFunction::kFnv1a_32:
      return Fnv1a<kFnv32Offset, kFnv32Prime>;
    case HashFunction::kHsieh:
      return Hsieh;
    case HashFunction::kMurmur:
      return Murmur;
    case HashFunction::kJenkins:
      return Jenkins;
  }
  return nullptr;
}

}  // namespace ringway::ring
