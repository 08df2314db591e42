#include "bench/load/reply_reader.h"

#include <string>

#include <gtest/gtest.h>

namespace ringway::bench {
namespace {

// Writes down what it is told.
class Recorder : public ReplySink {
 public:
  void OnScalar(char type, std::string_view text) override { (log += type).append(text) += ' '; }
  void OnNull() override { log += "null "; }
  void OnArray(uint64_t elements) override { log.append("*").append(std::to_string(elements)) += ' '; }
  void OnBulkBegin(uint64_t length) override { log.append("$").append(std::to_string(length)) += ':'; }
  void OnBulkBytes(std::string_view part) override { log.append(part); }
  void OnBulkEnd() override { log += ' '; }
  void OnReplyEnd() override { log += "; "; }
  std::string log;
};

const char kStream[] =
    "+OK\r\n-ERR no\r\n:-7\r\n$-1\r\n$0\r\n\r\n$5\r\na\r\nb\n\r\n*2\r\n$1\r\nx\r\n*1\r\n:1\r\n*0\r\n*-1\r\n";
const char kMeaning[] = "+OK ; -ERR no ; :-7 ; null ; $0: ; $5:a\r\nb\n ; *2 $1:x *1 :1 ; *0 ; null ; ";

TEST(ReplyReader, RepliesAreTheSameHoweverTheBytesAreSplit) {
  const std::string stream = kStream;
  for (std::size_t first = 0; first <= stream.size(); ++first) {
    Recorder recorder;
    ReplyReader reader(&recorder);
    EXPECT_TRUE(reader.Feed(std::string_view(stream).substr(0, first)));
    EXPECT_TRUE(reader.Feed(std::string_view(stream).substr(first)));
    EXPECT_EQ(recorder.log, kMeaning) << "split at " << first;
    EXPECT_EQ(reader.replies(), 9u);
  }
  Recorder recorder;
  ReplyReader reader(&recorder);
  for (const char c : stream) EXPECT_TRUE(reader.Feed(std::string_view(&c, 1)));
  EXPECT_EQ(recorder.log, kMeaning);
}

TEST(ReplyReader, BytesThatAreNoReplyAreRefused) {
  for (const char* bad :
       {"OK\r\n", "+OK\n", "\r\n", "$x\r\n", "$-2\r\n", "*\r\n", "$1\r\nab\r\n", "$1\r\na\rb", "$\r\n"}) {
    Recorder recorder;
    ReplyReader reader(&recorder);
    EXPECT_FALSE(reader.Feed(bad)) << bad;
  }
}

TEST(ReplyReader, EndlessLineIsRefused) {
  Recorder recorder;
  ReplyReader reader(&recorder);
  const std::string part(ReplyReader::kMaxLine / 2, 'x');
  EXPECT_TRUE(reader.Feed("+"));
  EXPECT_TRUE(reader.Feed(part));
  EXPECT_FALSE(reader.Feed(part));
}

TEST(ReplyReader, ResetForgetsAHalfReply) {
  Recorder recorder;
  ReplyReader reader(&recorder);
  EXPECT_TRUE(reader.Feed("*3\r\n$10\r\nabc"));
  reader.Reset();
  recorder.log.clear();
  EXPECT_TRUE(reader.Feed("+OK\r\n"));
  EXPECT_EQ(recorder.log, "+OK ; ");
}

}  // namespace
}  // namespace ringway::bench
