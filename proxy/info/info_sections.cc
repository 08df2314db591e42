#include "proxy/info/info_sections.h"

#include <algorithm>

#include "proxy/words.h"

namespace ringway::proxy {
namespace {

using Needs = InfoSection::Needs;
using Shown = InfoSection::Shown;

constexpr InfoSection kSections[] = {
    {"server", "Server", Shown::kByDefault, Needs::kProxy, &WriteServer},
    {"clients", "Clients", Shown::kByDefault, Needs::kProxy, &WriteClients},
    {"memory", "Memory", Shown::kByDefault, Needs::kShards, &WriteMemory},
    {"persistence", "Persistence", Shown::kByDefault, Needs::kShards, &WritePersistence},
    {"stats", "Stats", Shown::kByDefault, Needs::kShards, &WriteStats},
    {"replication", "Replication", Shown::kByDefault, Needs::kProxy, &WriteReplication},
    {"cpu", "CPU", Shown::kByDefault, Needs::kProxy, &WriteCpu},
    {"module_list", "Modules", Shown::kByDefault, Needs::kProxy, &WriteModules, "modules"},
    {"commandstats", "Commandstats", Shown::kInAll, Needs::kProxy, &WriteCommandStats},
    {"errorstats", "Errorstats", Shown::kByDefault, Needs::kProxy, &WriteErrorStats},
    {"latencystats", "Latencystats", Shown::kInAll, Needs::kProxy, &WriteLatencyStats},
    {"cluster", "Cluster", Shown::kByDefault, Needs::kProxy, &WriteCluster},
    {"keyspace", "Keyspace", Shown::kByDefault, Needs::kShards, &WriteKeyspace},
    {"ring", "Ring", Shown::kByDefault, Needs::kShards, &WriteRing},
    {"migration", "Migration", Shown::kInAll, Needs::kProxy, &WriteMigration},
    {"hotkeys", "Hotkeys", Shown::kInAll, Needs::kProxy, &WriteHotKeys},
    {"workers", "Workers", Shown::kInAll, Needs::kProxy, &WriteWorkers},
};

bool Picks(std::string_view argument, const InfoSection& section) {
  if (IsWord(argument, "all") || IsWord(argument, "everything")) return true;
  if (IsWord(argument, "default")) return section.shown == Shown::kByDefault;
  return IsWord(argument, section.name) || (!argument.empty() && IsWord(argument, section.other_name));
}

}  // namespace

std::span<const InfoSection> InfoSections() { return kSections; }

std::vector<const InfoSection*> PickSections(std::span<const std::string_view> arguments) {
  static constexpr std::string_view kDefault[] = {"default"};
  if (arguments.empty()) arguments = kDefault;
  std::vector<const InfoSection*> picked;
  for (const InfoSection& section : kSections) {
    if (std::any_of(arguments.begin(), arguments.end(),
                    [&](std::string_view argument) { return Picks(argument, section); })) {
      picked.push_back(&section);
    }
  }
  return picked;
}

bool NeedShards(std::span<const InfoSection* const> sections) {
  return std::any_of(sections.begin(), sections.end(),
                     [](const InfoSection* section) { return section->needs == Needs::kShards; });
}

std::string WriteSections(std::span<const InfoSection* const> sections, const InfoFacts& facts) {
  std::string text;
  for (const InfoSection* section : sections) {
    if (!text.empty()) text += "\r\n";
    text.append("# ").append(section->title).append("\r\n");
    section->write(facts, text);
  }
  return text;
}

}  // namespace ringway::proxy
