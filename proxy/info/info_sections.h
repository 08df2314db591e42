#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/info/info_facts.h"

namespace ringway::proxy {

// One section of INFO.
struct InfoSection {
  enum class Shown : uint8_t {
    kByDefault,  // INFO without arguments, or with "default"
    kInAll,      // with "all" or "everything"
  };
  enum class Needs : uint8_t {
    kProxy,   // nothing but the proxy's own figures
    kShards,  // a fresh INFO of every shard
  };
  std::string_view name;   // as asked for: "server"
  std::string_view title;  // as shown: "Server"
  Shown shown;
  Needs needs;
  void (*write)(const InfoFacts& facts, std::string& out);
  std::string_view other_name = {};  // taken as well, where Redis has two
};

// All of them, in the order they are shown in.
std::span<const InfoSection> InfoSections();

// Sections picked by a request's arguments (any case; several; "default", "all", "everything"), in the order
// they are shown in. Names that nobody knows pick nothing. Without arguments: the default ones.
std::vector<const InfoSection*> PickSections(std::span<const std::string_view> arguments);

bool NeedShards(std::span<const InfoSection* const> sections);

// The text of INFO, without RESP framing; empty for no sections.
std::string WriteSections(std::span<const InfoSection* const> sections, const InfoFacts& facts);

// The writers, each in the file of its concern.
void WriteServer(const InfoFacts& facts, std::string& out);
void WriteClients(const InfoFacts& facts, std::string& out);
void WriteMemory(const InfoFacts& facts, std::string& out);
void WritePersistence(const InfoFacts& facts, std::string& out);
void WriteStats(const InfoFacts& facts, std::string& out);
void WriteReplication(const InfoFacts& facts, std::string& out);
void WriteCpu(const InfoFacts& facts, std::string& out);
void WriteModules(const InfoFacts& facts, std::string& out);
void WriteCommandStats(const InfoFacts& facts, std::string& out);
void WriteErrorStats(const InfoFacts& facts, std::string& out);
void WriteLatencyStats(const InfoFacts& facts, std::string& out);
void WriteCluster(const InfoFacts& facts, std::string& out);
void WriteKeyspace(const InfoFacts& facts, std::string& out);
void WriteRing(const InfoFacts& facts, std::string& out);
void WriteMigration(const InfoFacts& facts, std::string& out);
void WriteHotKeys(const InfoFacts& facts, std::string& out);
void WriteWorkers(const InfoFacts& facts, std::string& out);

}  // namespace ringway::proxy
