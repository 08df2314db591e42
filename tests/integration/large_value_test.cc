// The largest value Redis takes, in both directions. Needs a few gigabytes of memory, so it runs alone.
#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

constexpr size_t kLargest = size_t{512} << 20;
constexpr size_t kPiece = size_t{4} << 20;
constexpr int64_t kMegabyte = 1 << 20;

using LargeValue = ProxyTest;

// A piece whose bytes tell where in the value they belong.
std::string PieceAt(size_t offset) {
  std::string piece(kPiece, '\0');
  for (size_t i = 0; i < kPiece; i += 8) {
    const uint64_t mark = (offset + i) * 0x9E3779B97F4A7C15U;
    std::copy_n(reinterpret_cast<const char*>(&mark), 8, piece.begin() + static_cast<ptrdiff_t>(i));
  }
  return piece;
}

TEST_F(LargeValue, Of512MegabytesIsRefusedOrHeldTwice) {
  const int64_t before = DirectMode() ? 0 : cluster_->proxy().Rss();
  RespSocket& socket = client_.socket();
  RespClient other = Connect();
  const std::string header = "*3\r\n$3\r\nSET\r\n$5\r\nlarge\r\n$" + std::to_string(kLargest) + "\r\n";
  ASSERT_TRUE(socket.Send(header));
  int64_t peak = 0;
  for (size_t offset = 0; offset < kLargest; offset += kPiece) {
    ASSERT_TRUE(socket.Send(PieceAt(offset), seconds(30)));
    if (!DirectMode()) peak = std::max(peak, cluster_->proxy().Rss() - before);
  }
  ASSERT_TRUE(socket.Send("\r\n"));
  ASSERT_EQ(ToText(client_.Read(seconds(30))), "+OK");
  EXPECT_EQ(ToText(other.Do({"STRLEN", "large"})), std::to_string(kLargest));

  ASSERT_TRUE(client_.Send({"GET", "large"}));
  const std::string reply_header = "$" + std::to_string(kLargest) + "\r\n";
  ASSERT_EQ(socket.ReadBytes(reply_header.size(), seconds(30)), reply_header);
  for (size_t offset = 0; offset < kLargest; offset += kPiece) {
    ASSERT_TRUE(socket.ReadBytes(kPiece, seconds(30)) == PieceAt(offset)) << "differs near " << offset;
    if (!DirectMode()) peak = std::max(peak, cluster_->proxy().Rss() - before);
    if (offset % (kPiece * 16) == 0) {
      ASSERT_EQ(ToText(other.Do({"PING"})), "+PONG");
    }
  }
  ASSERT_EQ(socket.ReadBytes(2), "\r\n");
  EXPECT_EQ(Ask({"PING"}), "+PONG");
  std::cout << "peak of the proxy's memory: " << peak / kMegabyte << " MB over its start" << std::endl;
  if (DirectMode()) return;
  EXPECT_LT(peak, 700 * kMegabyte);
  EXPECT_TRUE(Eventually([&] { return cluster_->proxy().Rss() - before < 60 * kMegabyte; }))
      << (cluster_->proxy().Rss() - before) / kMegabyte << " MB more than before";
}

TEST_F(LargeValue, OneByteOverTheLimitIsTaken) {
  client_.socket().Send("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$" + std::to_string(kLargest + 1) + "\r\n");
  EXPECT_EQ(client_.socket().ReadUntilClosed(), "-ERR Protocol error: invalid bulk length\r\n");
}

}  // namespace
}  // namespace ringway::test
