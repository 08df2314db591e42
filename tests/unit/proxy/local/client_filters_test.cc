#include "proxy/local/client_filters.h"

#include <gtest/gtest.h>

#include "tests/support/made_request.h"

namespace ringway::proxy {
namespace {

using test::MadeRequest;
using test::Words;

SessionState SomeClient() {
  SessionState state;
  state.id = 7;
  state.peer_address = "10.0.0.1:4000";
  state.local_address = "10.0.0.2:6380";
  return state;
}

bool Kills(const std::string& line, const SessionState& state) {
  ClientFilter filter;
  const auto error = ParseClientKill(MadeRequest(Words(line)).view(), &filter);
  EXPECT_FALSE(error.has_value()) << *error;
  return filter.Matches(state);
}

std::string KillError(const std::string& line) {
  ClientFilter filter;
  return ParseClientKill(MadeRequest(Words(line)).view(), &filter).value_or("");
}

std::string ListError(const std::string& line) {
  ClientFilter filter;
  return ParseClientList(MadeRequest(Words(line)).view(), &filter).value_or("");
}

TEST(ClientFilter, OneFilterOfSeveralDecides) {
  const SessionState client = SomeClient();
  for (const char* line : {"CLIENT KILL 10.0.0.1:4000", "CLIENT KILL ID 7",
                           "CLIENT KILL id 7 addr 10.0.0.1:4000 LADDR 10.0.0.2:6380",
                           "CLIENT KILL TYPE normal", "CLIENT KILL USER default", "CLIENT KILL SKIPME no"}) {
    EXPECT_TRUE(Kills(line, client)) << line;
  }
  for (const char* line :
       {"CLIENT KILL 10.0.0.1:400", "CLIENT KILL ID 8", "CLIENT KILL ID 7 ADDR 10.0.0.2:6380",
        "CLIENT KILL ADDR 10.0.0.1:4000 LADDR 10.0.0.1:4000", "CLIENT KILL TYPE pubsub ID 7",
        "CLIENT KILL TYPE MASTER USER default"}) {
    EXPECT_FALSE(Kills(line, client)) << line;
  }
}

TEST(ClientFilter, ClientsOfAUnixSocketHaveNoAddress) {
  SessionState client = SomeClient();
  client.peer_address = "unix:";
  client.local_address = "unix:/run/ringway.sock";
  EXPECT_TRUE(Kills("CLIENT KILL /run/ringway.sock:0", client));
  EXPECT_TRUE(Kills("CLIENT KILL LADDR /run/ringway.sock:0", client));
  EXPECT_FALSE(Kills("CLIENT KILL /run/other.sock:0", client));
}

TEST(ClientFilter, SelfIsSpared) {
  ClientFilter filter;
  EXPECT_FALSE(ParseClientKill(MadeRequest(Words("CLIENT KILL 1.1.1.1:1")).view(), &filter).has_value());
  EXPECT_FALSE(filter.skip_me);
  ClientFilter by_id;
  EXPECT_FALSE(ParseClientKill(MadeRequest(Words("CLIENT KILL ID 1")).view(), &by_id).has_value());
  EXPECT_TRUE(by_id.skip_me);
}

TEST(ClientFilter, NonsenseKills) {
  EXPECT_EQ(KillError("CLIENT KILL ID 0"), "ERR client-id should be greater than 0");
  EXPECT_EQ(KillError("CLIENT KILL ID 7 TYPE"), "ERR syntax error");
  EXPECT_EQ(KillError("CLIENT KILL ID 7 MAXAGE 1"), "ERR syntax error");
  EXPECT_EQ(KillError("CLIENT KILL SKIPME perhaps"), "ERR syntax error");
  EXPECT_EQ(KillError("CLIENT KILL TYPE any"), "ERR Unknown client type 'any'");
  EXPECT_EQ(KillError("CLIENT KILL USER x"), "ERR No such user 'x'");
  EXPECT_EQ(ListError("CLIENT LIST ID 1 x"), "ERR Invalid client ID");
  EXPECT_EQ(ListError("CLIENT LIST ID"), "ERR syntax error");
  EXPECT_EQ(ListError("CLIENT LIST TYPE normal normal"), "ERR syntax error");
}

}  // namespace
}  // namespace ringway::proxy
