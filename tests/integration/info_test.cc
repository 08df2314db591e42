// INFO, and the RING commands that only look.
#include <cmath>
#include <map>
#include <sstream>

#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

// The name=value pairs of one INFO line such as shard0:name=a,addr=...
std::map<std::string, std::string> Pairs(const std::string& line) {
  std::map<std::string, std::string> pairs;
  std::istringstream in(line);
  for (std::string pair; std::getline(in, pair, ',');) {
    const size_t equals = pair.find('=');
    if (equals != std::string::npos) pairs[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return pairs;
}

class Info : public ProxyTest {
 protected:
  std::string Section(const std::string& name) { return Do({"INFO", name}).text; }
  std::string Field(const std::string& field) { return InfoField(Do({"INFO", "everything"}).text, field); }
};

TEST_F(Info, ReadyChecksOfLibrariesFail) {
  const std::string info = Do({"INFO"}).text;
  EXPECT_EQ(InfoField(info, "loading"), "0");
  EXPECT_EQ(InfoField(info, "role"), "master");
  EXPECT_EQ(InfoField(info, "redis_mode"), "standalone");
  EXPECT_THAT(InfoField(info, "redis_version"), ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(InfoField(info, "tcp_port"), cluster_->address().substr(cluster_->address().rfind(':') + 1));
}

TEST_F(Info, SectionsAreMissing) {
  const std::vector<std::pair<std::string, std::string>> sections = {
      {"Server", "uptime_in_seconds"},       {"Clients", "connected_clients"},    {"Memory", "used_memory"},
      {"Stats", "total_commands_processed"}, {"Replication", "connected_slaves"}, {"CPU", "used_cpu_user"}};
  const std::string all = Do({"INFO"}).text;
  for (const auto& [name, field] : sections) {
    EXPECT_THAT(all, HasSubstr("# " + name + "\r\n"));
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return static_cast<char>(std::tolower(c)); });
    const std::string one = Section(lower);
    EXPECT_THAT(one, StartsWith("# " + name + "\r\n"));
    EXPECT_NE(InfoField(one, field), "") << name;
    EXPECT_THAT(one, ::testing::EndsWith("\r\n"));
  }
  EXPECT_EQ(Section("nonsense"), "");
  EXPECT_THAT(Do({"INFO", "server", "clients"}).text,
              AllOf(HasSubstr("# Server"), HasSubstr("# Clients"), Not(HasSubstr("# CPU"))));
  EXPECT_THAT(Section("all"), HasSubstr("# Commandstats"));
  EXPECT_THAT(Section("everything"), HasSubstr("# Commandstats"));
  EXPECT_THAT(Section("default"), Not(HasSubstr("# Commandstats")));
}

TEST_F(Info, StatisticsOfCommandsAreWrong) {
  Ask({"CONFIG", "RESETSTAT"});
  for (int i = 0; i < 7; ++i) Ask({"SET", "k" + std::to_string(i), "v"});
  Ask({"LPUSH", "k0", "x"});
  Ask({"NOSUCHCOMMAND"});
  const std::string stats = Section("everything");
  EXPECT_THAT(InfoField(stats, "cmdstat_set"), StartsWith("calls=7,"));
  EXPECT_THAT(InfoField(stats, "cmdstat_lpush"), AllOf(StartsWith("calls=1,"), HasSubstr("failed_calls=1")));
  EXPECT_THAT(InfoField(stats, "latency_percentiles_usec_set"), AllOf(HasSubstr("p50="), HasSubstr("p99=")));
  EXPECT_EQ(InfoField(stats, "errorstat_WRONGTYPE"), "count=1");
  EXPECT_EQ(InfoField(stats, "errorstat_ERR"), "count=1");
}

TEST_F(Info, ClientsAreMiscounted) {
  const auto connected = [&] { return Field("connected_clients"); };
  EXPECT_EQ(connected(), "1");
  {
    std::vector<RespClient> clients;
    for (int i = 0; i < 20; ++i) clients.push_back(Connect());
    for (RespClient& client : clients) client.Do({"PING"});
    EXPECT_EQ(connected(), "21");
  }
  EXPECT_TRUE(Eventually([&] { return connected() == "1"; })) << connected();
  EXPECT_EQ(Field("maxclients"), "10000");
}

TEST_F(Info, KeyspaceIsThatOfOneShard) {
  Fill(90);
  Ask({"SELECT", "2"});
  Fill(30);
  Ask({"EXPIRE", "key:1", "100"});
  EXPECT_TRUE(Eventually([&] { return Pairs(InfoField(Section("keyspace"), "db0"))["keys"] == "90"; }));
  auto second = Pairs(InfoField(Section("keyspace"), "db2"));
  EXPECT_EQ(second["keys"], "30");
  EXPECT_EQ(second["expires"], "1");
}

TEST_F(Info, RingFieldsAreMissing) {
  RINGWAY_NEEDS_PROXY();
  Fill(300);
  const std::string ring = Section("ring");
  EXPECT_THAT(ring, StartsWith("# Ring\r\n"));
  for (const char* field : {"ring_epoch", "ring_points", "ring_share_max_over_mean",
                            "ring_share_min_over_mean", "ring_share_stddev", "ring_load_max_over_mean"}) {
    EXPECT_TRUE(std::isfinite(std::atof(InfoField(ring, field).c_str()))) << field;
    EXPECT_NE(InfoField(ring, field), "") << field;
  }
  EXPECT_EQ(InfoField(ring, "ring_distribution"), "ring");
  EXPECT_EQ(InfoField(ring, "ring_hash"), "xxh3");
  EXPECT_EQ(InfoField(ring, "ring_virtual_nodes"), "4096");
  EXPECT_EQ(InfoField(ring, "ring_shards"), "3");
  double shares = 0;
  double request_shares = 0;
  for (size_t i = 0; i < 3; ++i) {
    auto line = Pairs(InfoField(ring, "shard" + std::to_string(i)));
    for (const char* name :
         {"name", "addr", "state", "weight", "points", "share", "share_wanted", "keys", "used_memory",
          "requests", "request_share", "errors", "in_flight", "latency_usec_p50", "latency_usec_p99"}) {
      EXPECT_TRUE(line.contains(name)) << name << " of shard" << i;
    }
    EXPECT_EQ(line["name"], Cluster::ShardName(i));
    EXPECT_EQ(line["addr"], shard(i).address());
    EXPECT_EQ(line["state"], "up");
    EXPECT_EQ(line["weight"], "1");
    EXPECT_NEAR(std::stod(line["share"]), 1.0 / 3, 0.01);
    EXPECT_NEAR(std::stod(line["share_wanted"]), 1.0 / 3, 0.0001);
    EXPECT_GT(std::stoll(line["requests"]), 50);
    EXPECT_EQ(line["in_flight"], "0");
    shares += std::stod(line["share"]);
    request_shares += std::stod(line["request_share"]);
  }
  EXPECT_NEAR(shares, 1.0, 0.001);
  EXPECT_NEAR(request_shares, 1.0, 0.01);
  // keys come from the shards' own figures, asked for now and then.
  EXPECT_TRUE(Eventually([&] {
    int64_t keys = 0;
    for (int i = 0; i < 3; ++i)
      keys += std::atoll(Pairs(InfoField(Section("ring"), "shard" + std::to_string(i)))["keys"].c_str());
    return keys == 300;
  }));
}

TEST_F(Info, ShardThatIsDownLooksUp) {
  RINGWAY_NEEDS_PROXY();
  const auto state = [&] { return Pairs(InfoField(Section("ring"), "shard1"))["state"]; };
  EXPECT_EQ(state(), "up");
  shard(1).Kill();
  EXPECT_TRUE(Eventually([&] { return state() != "up"; }));
  shard(1).Restart();
  EXPECT_TRUE(Eventually([&] { return state() == "up"; }));
}

TEST_F(Info, OwnSectionsAreMissing) {
  RINGWAY_NEEDS_PROXY();
  const std::string everything = Section("everything");
  for (const char* name : {"# Ring\r\n", "# Workers\r\n"}) EXPECT_THAT(everything, HasSubstr(name));
  const std::string workers = Section("workers");
  EXPECT_THAT(workers, AllOf(HasSubstr("clients="), HasSubstr("commands="), HasSubstr("batches="),
                             HasSubstr("bytes")));
  EXPECT_NE(InfoField(workers, "worker0"), "");
  EXPECT_NE(InfoField(workers, "worker1"), "");
}

TEST_F(Info, FormsWithAnyArgumentsHangOrCrash) {
  const std::vector<std::string> words = {"",     "ring", "nonsense", "RING", "all", std::string(300, 'x'),
                                          "\r\n", "*"};
  for (const std::string& first : words) {
    EXPECT_NE(Do({"INFO", first}).type, 0);
    for (const std::string& second : words) {
      EXPECT_NE(Do({"INFO", first, second}).type, 0);
      EXPECT_NE(Do({"INFO", first, second, "server"}).type, 0);
    }
  }
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

class RingCommands : public ProxyTest {};

TEST_F(RingCommands, ListLacksFields) {
  RINGWAY_NEEDS_PROXY();
  for (const char* name : {"RING", "ring", "Ring"}) {
    const Reply list = Do({name, "LIST"});
    ASSERT_THAT(list.elements, SizeIs(3)) << list;
    for (size_t i = 0; i < 3; ++i) {
      const Reply& entry = list.elements[i];
      for (const char* field : {"name", "address", "weight", "state"})
        EXPECT_NE(entry.Find(field), nullptr) << field << entry;
      EXPECT_EQ(entry.Find("name")->text, Cluster::ShardName(i));
      EXPECT_EQ(entry.Find("address")->text, shard(i).address());
    }
  }
  Ask({"HELLO", "3"});
  EXPECT_EQ(Do({"RING", "LIST"}).elements.at(0).type, '%');
}

TEST_F(RingCommands, LocateNamesAnotherShardThanTheOneThatHoldsTheKey) {
  RINGWAY_NEEDS_PROXY();
  std::vector<std::string> keys = Fill(60);
  for (const std::string& odd :
       std::vector<std::string>{"{tag}a", "{}", "{", "}{", "{tag", "", "a\r\nb", "{tag}b"}) {
    Ask({"SET", odd, "x"});
    keys.push_back(odd);
  }
  Command locate = {"RING", "LOCATE"};
  locate.insert(locate.end(), keys.begin(), keys.end());
  const Reply all = Do(locate);
  ASSERT_THAT(all.elements, SizeIs(keys.size()));
  for (size_t i = 0; i < keys.size(); ++i) {
    const size_t owner = cluster_->OwnerOf(keys[i]);
    EXPECT_THAT(cluster_->HoldersOf(keys[i]), ElementsAre(owner)) << keys[i];
    EXPECT_EQ(all.elements[i].Find("shard")->text, Cluster::ShardName(owner));
    EXPECT_EQ(all.elements[i].Find("address")->text, shard(owner).address());
    EXPECT_NE(all.elements[i].Find("hash"), nullptr);
  }
  EXPECT_EQ(cluster_->OwnerOf("{tag}a"), cluster_->OwnerOf("{tag}b"));
}

TEST_F(RingCommands, FormsWithAnyArgumentsHangOrCrash) {
  RINGWAY_NEEDS_PROXY();
  const std::vector<std::string> words = {"LIST",    "LOCATE", "HELP",     "PLAN",     "APPLY",
                                          "ADD",     "REMOVE", "WEIGHT",   "STATUS",   "WAIT",
                                          "PAUSE",   "RESUME", "ABORT",    "THROTTLE", "HOTKEYS",
                                          "REPLACE", "",       "nonsense", "\r\n",     std::string(300, 'x')};
  EXPECT_THAT(Ask({"RING"}), StartsWith("-ERR wrong number of arguments for 'ring' command"));
  const std::vector<std::string> tails = {"", "0", "-1", "nonsense", "99999999999999999999"};
  for (const std::string& word : words) {
    EXPECT_NE(Do({"RING", word}).type, 0) << word;
    for (const std::string& tail : tails) {
      EXPECT_NE(Do({"RING", word, tail}).type, 0) << word;
      EXPECT_NE(Do({"RING", word, tail, "x"}).type, 0) << word;
    }
  }
  EXPECT_EQ(Ask({"PING"}), "+PONG");
  EXPECT_THAT(Ask({"RING", "LOCATE"}),
              StartsWith("-ERR wrong number of arguments for 'ring|locate' command"));
  EXPECT_THAT(Ask({"RING", "NONSENSE"}), StartsWith("-ERR unknown subcommand 'NONSENSE'. Try RING HELP."));
  EXPECT_GE(Do({"RING", "HELP"}).elements.size(), 4U);
}

TEST_F(RingCommands, HotkeysTakesAnyCount) {
  RINGWAY_NEEDS_PROXY();
  EXPECT_EQ(Ask({"RING", "HOTKEYS"}), "[]");
  EXPECT_EQ(Ask({"RING", "HOTKEYS", "1"}), "[]");
  EXPECT_EQ(Ask({"RING", "HOTKEYS", "1000"}), "[]");
  for (const char* count : {"0", "-1", "1001", "x", "", "99999999999999999999"}) {
    EXPECT_EQ(Ask({"RING", "HOTKEYS", count}), "-ERR count must be a number from 1 to 1000") << count;
  }
  EXPECT_THAT(Ask({"RING", "HOTKEYS", "1", "2"}),
              StartsWith("-ERR wrong number of arguments for 'ring|hotkeys' command"));
}

TEST_F(RingCommands, TwoProxiesPlaceKeysDifferently) {
  RINGWAY_NEEDS_PROXY();
  RingwayProcess second({"--config", cluster_->config_path()});
  ASSERT_TRUE(second.WaitReady()) << second.log();
  RespClient other(second.address());
  for (const std::string& key : Fill(100)) ASSERT_EQ(other.Do({"GET", key}).text, key);
}

}  // namespace
}  // namespace ringway::test
