#include "proxy/info/migration_section.h"

#include <algorithm>
#include <concepts>

#include "proxy/info/info_sections.h"
#include "proxy/info/info_text.h"

namespace ringway::proxy {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

// What a reader of lines must not see in a value.
std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
  return text;
}

class FieldList {
 public:
  void Add(const char* name, std::string value) {
    fields_.emplace_back("migration_" + std::string(name), OneLine(std::move(value)));
  }
  void Add(const char* name, std::integral auto value) { Add(name, std::to_string(value)); }
  void AddLine(const InfoLine& line) {
    std::string text;
    InfoLine(line).EndInto(text);
    const size_t colon = text.find(':');
    fields_.emplace_back(text.substr(0, colon), text.substr(colon + 1, text.size() - colon - 3));
  }
  Fields Take() { return std::move(fields_); }

 private:
  Fields fields_;
};

// Seconds until nothing is left at the present speed; -1 when nothing moves but something is left.
int64_t EtaSeconds(const MigrationReport& report, uint64_t remaining, uint64_t rate) {
  if (!report.under_way() || remaining == 0) return 0;
  return rate == 0 ? -1 : static_cast<int64_t>((remaining + rate - 1) / rate);
}

}  // namespace

Fields MigrationFields(const MigrationBoard& board) {
  const MigrationReport report = board.Get();
  const MoveCounts total = report.Total();
  const uint64_t rate = report.under_way() ? board.keys_per_second() : 0;
  FieldList fields;
  fields.Add("state", report.state);
  fields.Add("id", report.id);
  fields.Add("change", report.change);
  fields.Add("result", report.result);
  fields.Add("error", report.error);
  fields.Add("pause_reason", report.pause_reason);
  fields.Add("ring_share_moving", FormatDecimal(total.share, 4));
  fields.Add("progress", FormatDecimal(report.Progress(), 4));
  fields.Add("keys_moved", total.keys());
  fields.Add("keys_moved_on_access", total.keys_on_access);
  fields.Add("keys_moved_background", total.keys_background);
  fields.Add("keys_absent_on_access", total.keys_absent);
  fields.Add("keys_given_up", report.keys_given_up);
  fields.Add("bytes_moved", total.bytes);
  fields.Add("keys_per_second", rate);
  fields.Add("keys_remaining", total.remaining);
  fields.Add("eta_seconds", EtaSeconds(report, total.remaining, rate));
  fields.Add("errors", total.errors);
  fields.Add("big_keys", report.big_keys);
  fields.Add("hold_usec", report.hold_usec);
  // As Redis tells times: seconds since 1970.
  fields.Add("started", report.started_usec / 1'000'000);
  fields.Add("finished", report.finished_usec / 1'000'000);
  for (size_t i = 0; i < report.pairs.size(); ++i) {
    const MovePairCounts& pair = report.pairs[i];
    fields.AddLine(InfoLine("move" + std::to_string(i))
                       .Add("from", pair.from)
                       .Add("to", pair.to)
                       .Decimal("share", pair.counts.share, 4)
                       .Add("keys", pair.counts.keys())
                       .Add("bytes", pair.counts.bytes)
                       .Add("on_access", pair.counts.keys_on_access)
                       .Add("remaining", pair.counts.remaining)
                       .Add("errors", pair.counts.errors));
  }
  return fields.Take();
}

void WriteMigration(const InfoFacts& facts, std::string& out) {
  InfoText text(out);
  for (const auto& [name, value] : MigrationFields(facts.state.migration)) text.Field(name, value);
}

}  // namespace ringway::proxy
