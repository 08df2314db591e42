#include "proxy/local/client_list.h"

#include <gtest/gtest.h>

namespace ringway::proxy {
namespace {

TEST(ClientLine, FieldsAreOutOfOrder) {
  SessionState state;
  state.id = 12;
  state.fd = 9;
  state.db = 3;
  state.resp = 3;
  state.name = "web";
  state.peer_address = "[::1]:5000";
  state.local_address = "[::1]:6380";
  state.connected_usec = 1'000'000;
  state.last_active_usec = 63'500'000;
  ClientFacts facts;
  facts.command = "client|list";
  facts.input_bytes = 100;
  facts.input_memory = 4096;
  facts.output_bytes = 50;
  facts.writing = true;
  facts.reading = false;
  std::string line;
  AppendClientLine(state, facts, 66'000'000, line);
  const size_t memory = line.find("tot-mem=");
  ASSERT_NE(memory, std::string::npos);
  const size_t after = line.find(' ', memory);
  EXPECT_EQ(
      line.substr(0, memory),
      "id=12 addr=[::1]:5000 laddr=[::1]:6380 fd=9 name=web age=65 idle=2 flags=N db=3 sub=0 psub=0 "
      "ssub=0 multi=-1 qbuf=100 qbuf-free=3996 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=1 omem=50 ");
  EXPECT_EQ(line.substr(after), " events=w cmd=client|list user=default redir=-1 resp=3");
}

TEST(ClientLine, FlagsAndLibraryAreMissing) {
  SessionState state;
  state.local_address = "unix:/tmp/r.sock";
  state.no_evict = true;
  state.no_touch = true;
  state.lib_name = "lib";
  state.lib_version = "1.2";
  std::string line;
  AppendClientLine(state, ClientFacts{}, 0, line);
  EXPECT_NE(line.find(" addr=/tmp/r.sock:0 laddr=/tmp/r.sock:0 "), std::string::npos) << line;
  EXPECT_NE(line.find(" flags=UeT "), std::string::npos) << line;
  EXPECT_TRUE(line.ends_with(" resp=2 lib-name=lib lib-ver=1.2")) << line;
}

}  // namespace
}  // namespace ringway::proxy
