#include "ring/md5.h"

#include <memory>

#include <openssl/evp.h>

#include "ring/check.h"

namespace ringway::ring {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// Looking an algorithm up by name is far slower than the digest of a short key, hence once a process.
const EVP_MD* Md5Algorithm() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "MD5", nullptr);
  RINGWAY_RING_CHECK(algorithm != nullptr, "this OpenSSL offers no MD5, which ketama needs");
  return algorithm;
}

uint32_t LittleEndianWord(const unsigned char* bytes) {
  return static_cast<uint32_t>(bytes[0]) | static_cast<uint32_t>(bytes[1]) << 8 |
         static_cast<uint32_t>(bytes[2]) << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

}  // namespace

std::array<uint32_t, 4> Md5Words(std::string_view bytes) {
  thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  unsigned char digest[16];
  const bool ok = context != nullptr && EVP_DigestInit_ex(context.get(), Md5Algorithm(), nullptr) == 1 &&
                  EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
                  EVP_DigestFinal_ex(context.get(), digest, nullptr) == 1;
  RINGWAY_RING_CHECK(ok, "OpenSSL failed to compute an MD5");
  return {LittleEndianWord(digest), LittleEndianWord(digest + 4), LittleEndianWord(digest + 8),
          LittleEndianWord(digest + 12)};
}

}  // namespace ringway::ring
