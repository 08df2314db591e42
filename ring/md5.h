#ifndef RINGWAY_RING_MD5_H_
#define RINGWAY_RING_MD5_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace ringway::ring {

// MD5 as four little-endian words. twemproxy uses it to place servers and, on request, to hash keys;
// nothing here depends on its being hard to reverse. Aborts if the OpenSSL at hand refuses MD5.
std::array<uint32_t, 4> Md5Words(std::string_view bytes);

}  // namespace ringway::ring

#endif  // RINGWAY_RING_MD5_H_
