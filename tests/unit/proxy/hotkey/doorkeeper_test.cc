#include "proxy/hotkey/doorkeeper.h"

#include <gtest/gtest.h>

namespace ringway::proxy {
namespace {

TEST(Doorkeeper, TheFirstIsLetInOrTheSecondKeptOut) {
  Doorkeeper door;
  for (const uint64_t hash : {uint64_t{0}, uint64_t{1}, uint64_t{0x1234'0000'0000'0abc}, UINT64_MAX}) {
    EXPECT_FALSE(door.Knock(hash)) << hash;
    EXPECT_TRUE(door.Knock(hash)) << hash;
    EXPECT_TRUE(door.Knock(hash)) << hash;
  }
}

TEST(Doorkeeper, AnotherAtThePlaceIsTakenForTheFirst) {
  Doorkeeper door;
  const uint64_t one = 0x1000'0000'0000'0007;
  const uint64_t other = 0x2000'0000'0000'0007;
  EXPECT_FALSE(door.Knock(one));
  EXPECT_FALSE(door.Knock(other));
  EXPECT_FALSE(door.Knock(one));
}

}  // namespace
}  // namespace ringway::proxy
