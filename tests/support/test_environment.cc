#include "tests/support/test_environment.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string_view>
#include <thread>

namespace ringway::test {

namespace {
constexpr milliseconds kPollInterval{3};
}  // namespace

bool Eventually(const std::function<bool()>& condition, milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    if (condition()) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kPollInterval);
  }
}

bool Consistently(const std::function<bool()>& condition, milliseconds period) {
  return !Eventually([&] { return !condition(); }, period);
}

uint64_t TestSeed() {
  static const uint64_t seed = [] {
    const char* text = std::getenv("RINGWAY_SEED");
    const uint64_t value = text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device{}();
    std::cout << "RINGWAY_SEED=" << value << std::endl;
    return value;
  }();
  return seed;
}

std::mt19937_64 TestRandom(uint64_t stream) {
  std::seed_seq sequence{TestSeed(), stream};
  return std::mt19937_64(sequence);
}

bool DirectMode() {
  const char* target = std::getenv("RINGWAY_TEST_TARGET");
  return target != nullptr && std::string_view(target) == "direct";
}

bool Sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return true;
#else
  return false;
#endif
#else
  return false;
#endif
}

int64_t EnvironmentInteger(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return fallback;
  char* end = nullptr;
  const int64_t value = std::strtoll(text, &end, 10);
  return *end == '\0' ? value : fallback;
}

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "ringway-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw SetUpFailure("no temporary directory " + pattern);
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace ringway::test
