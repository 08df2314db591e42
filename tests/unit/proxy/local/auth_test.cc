#include "proxy/local/auth.h"

#include <gtest/gtest.h>

namespace ringway::proxy {
namespace {

TEST(EqualsSecret, PartOfThePasswordIsEnough) {
  EXPECT_TRUE(EqualsSecret("secret", "secret"));
  EXPECT_TRUE(EqualsSecret("", ""));
  for (const char* wrong : {"", "s", "secre", "secrets", "Secret", "secreT", "secretsecret", "xecret"}) {
    EXPECT_FALSE(EqualsSecret(wrong, "secret")) << wrong;
  }
  EXPECT_FALSE(EqualsSecret("a", ""));
  EXPECT_FALSE(EqualsSecret(std::string_view("\0", 1), ""));
  EXPECT_FALSE(EqualsSecret(std::string_view("a\0", 2), "a"));
}

TEST(MayEnter, OtherUsersComeIn) {
  config::Config config;
  EXPECT_TRUE(MayEnter(config, "default", "anything"));
  EXPECT_FALSE(MayEnter(config, "other", ""));
  config.requirepass = "secret";
  EXPECT_TRUE(MayEnter(config, "default", "secret"));
  EXPECT_FALSE(MayEnter(config, "default", ""));
  EXPECT_FALSE(MayEnter(config, "Default", "secret"));
  EXPECT_FALSE(MayEnter(config, "", "secret"));
}

}  // namespace
}  // namespace ringway::proxy
