#include "proxy/local/client_list.h"

#include <string_view>

#include "protocol/command_table.h"
#include "proxy/client/client_session.h"
#include "proxy/transaction/transaction.h"
#include "proxy/worker_stats.h"

namespace ringway::proxy {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";

bool IsUnix(const SessionState& state) { return state.local_address.starts_with(kUnixPrefix); }

void Field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).push_back('=');
  out.append(value).push_back(' ');
}

void Field(std::string& out, std::string_view name, int64_t value) {
  Field(out, name, std::to_string(value));
}

void Field(std::string& out, std::string_view name, uint64_t value) {
  Field(out, name, std::to_string(value));
}

std::string Flags(const SessionState& state, const ClientFacts& facts) {
  std::string flags;
  if ((state.modes & SessionState::kBlocked) != 0) flags.push_back('b');
  if (facts.queued >= 0) flags.push_back('x');
  if (facts.dirty) flags.push_back('d');
  if (IsUnix(state)) flags.push_back('U');
  if (state.no_evict) flags.push_back('e');
  if (state.no_touch) flags.push_back('T');
  return flags.empty() ? "N" : flags;
}

}  // namespace

// Both ends of a unix socket are known by its path.
std::string ShownLocal(const SessionState& state) {
  if (!IsUnix(state)) return state.local_address;
  return state.local_address.substr(kUnixPrefix.size()) + ":0";
}

std::string ShownPeer(const SessionState& state) {
  return IsUnix(state) ? ShownLocal(state) : state.peer_address;
}

ClientFacts FactsOf(const ClientSession& session) {
  ClientFacts facts;
  const SessionState& state = session.state();
  if (state.has_last_command) facts.command = NameOfCommand(state.last_command_id);
  facts.input_bytes = facts.input_memory = session.input_bytes();
  facts.output_bytes = session.unsent_bytes();
  facts.reading = session.WantsInput();
  facts.writing = facts.output_bytes > 0;
  if (const Transaction* transaction = session.find_transaction()) {
    if (transaction->open()) facts.queued = static_cast<int64_t>(transaction->commands().size());
    facts.dirty = transaction->dirty();
  }
  return facts;
}

void AppendClientLine(const SessionState& state, const ClientFacts& facts, int64_t now_usec,
                      std::string& out) {
  constexpr int64_t kSecond = 1'000'000;
  constexpr uint64_t kNone = 0;
  Field(out, "id", state.id);
  Field(out, "addr", ShownPeer(state));
  Field(out, "laddr", ShownLocal(state));
  Field(out, "fd", int64_t{state.fd});
  Field(out, "name", state.name);
  Field(out, "age", (now_usec - state.connected_usec) / kSecond);
  Field(out, "idle", (now_usec - state.last_active_usec) / kSecond);
  Field(out, "flags", Flags(state, facts));
  Field(out, "db", uint64_t{state.db});
  Field(out, "sub", kNone);
  Field(out, "psub", kNone);
  Field(out, "ssub", kNone);
  Field(out, "multi", facts.queued);
  Field(out, "qbuf", facts.input_bytes);
  Field(out, "qbuf-free", facts.input_memory - facts.input_bytes);
  Field(out, "argv-mem", kNone);
  Field(out, "multi-mem", kNone);
  Field(out, "rbs", kNone);
  Field(out, "rbp", kNone);
  Field(out, "obl", kNone);
  Field(out, "oll", uint64_t{facts.output_bytes > 0 ? 1U : 0U});
  Field(out, "omem", facts.output_bytes);
  Field(out, "tot-mem", sizeof(ClientSession) + facts.input_memory + facts.output_bytes);
  Field(out, "events", std::string(facts.reading ? "r" : "") + (facts.writing ? "w" : ""));
  Field(out, "cmd", facts.command);
  Field(out, "user", state.user);
  Field(out, "redir", int64_t{-1});
  Field(out, "resp", uint64_t{state.resp});
  if (!state.lib_name.empty()) Field(out, "lib-name", state.lib_name);
  if (!state.lib_version.empty()) Field(out, "lib-ver", state.lib_version);
  out.pop_back();
}

}  // namespace ringway::proxy
