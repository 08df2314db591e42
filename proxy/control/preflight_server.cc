#include "proxy/control/preflight_server.h"

#include <utility>

#include "protocol/command_writer.h"
#include "protocol/number_text.h"
#include "protocol/reply_cursor.h"

namespace ringway::proxy {
namespace {

using protocol::BulkOf;

// What FUNCTION DUMP gives of no functions: a version and a checksum.
constexpr size_t kEmptyFunctionsBytes = 10;

// The value of CONFIG GET's only parameter.
std::string_view OnlyValue(std::string_view reply) {
  protocol::ReplyCursor cursor(reply);
  std::string_view element;
  if (!cursor.Next(&element) || !cursor.Next(&element)) return {};
  return BulkOf(element).value_or(std::string_view());
}

}  // namespace

void PreflightServer::Inspect(bool with_functions, std::function<void()> done) {
  std::string frame;
  protocol::AppendCommand(frame, {"INFO"});
  protocol::AppendCommand(frame, {"CONFIG", "GET", "databases"});
  if (with_functions) protocol::AppendCommand(frame, {"FUNCTION", "DUMP"});
  client.DoFrame(frame, with_functions ? 3 : 2,
                 [this, done = std::move(done)](const ShardClient::Answer& answer) {
                   Read(answer);
                   if (is_joining && Keys() > 0) {
                     LookForCopies(done);
                   } else {
                     done();
                   }
                 });
}

void PreflightServer::LookForCopies(std::function<void()> done) {
  sweep_ = std::make_unique<CopySweep>(client, keyspace, CopySweep::Options{},
                                       [this, done = std::move(done)](const CopySweep::Result& result) {
                                         only_copies_ = result.complete && result.others == 0;
                                         done();
                                       });
  sweep_->Start();
}

// A server may keep any of these from the proxy's user; then the trial has to show what they would have told.
void PreflightServer::Read(const ShardClient::Answer& answer) {
  problem = answer.problem;
  if (!answer.ok()) return;
  const std::string_view info = BulkOf(answer[0]).value_or(std::string_view());
  run_id = InfoValue(info, "run_id");
  is_replica = InfoValue(info, "role") == "slave";
  keyspace = ReadKeyspace(info);
  databases = protocol::ParseInt64(OnlyValue(answer[1])).value_or(0);
  if (answer.size() > 2) functions = BulkOf(answer[2]).value_or(std::string_view());
  if (functions.size() <= kEmptyFunctionsBytes) functions.clear();
}

uint64_t PreflightServer::Keys() const {
  if (only_copies_) return 0;
  uint64_t keys = 0;
  for (const KeyspaceLine& line : keyspace) keys += line.keys;
  return keys;
}

}  // namespace ringway::proxy
