#include "proxy/reshard/progress_view.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "proxy/reshard/human.h"
#include "proxy/reshard/text_cells.h"
#include "proxy/reshard/text_table.h"

namespace ringway::proxy::reshard {

namespace {

constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kPlain = "\x1b[0m";

// A bar shorter than this shows nothing; percent and time stand alone then.
constexpr size_t kMinBarCells = 10;
// So that the eye need not travel.
constexpr size_t kMaxBarCells = 60;

std::string Coloured(const std::string& text, std::string_view colour, const ViewStyle& style) {
  if (!style.colour || text.empty()) return text;
  return std::string(colour) + text + std::string(kPlain);
}

std::string_view ColourOf(const MoveSnapshot& snapshot) {
  if (snapshot.state == "paused" || snapshot.state == "aborting") return kYellow;
  if (!snapshot.under_way() && OutcomeOf(snapshot) == MoveOutcome::kFailed) return kRed;
  return kGreen;
}

std::string Bar(double progress, size_t cells, const ViewStyle& style) {
  const auto full =
      static_cast<size_t>(std::floor(std::clamp(progress, 0.0, 1.0) * static_cast<double>(cells)));
  std::string done;
  std::string left;
  for (size_t i = 0; i < cells; ++i) {
    std::string& part = i < full ? done : left;
    if (style.blocks) {
      part += i < full ? "\u2588" : "\u2591";
    } else {
      part += i < full ? '#' : '.';
    }
  }
  return done + left;
}

std::string StateWord(const MoveSnapshot& snapshot) {
  if (snapshot.under_way()) return Printable(snapshot.state);
  switch (OutcomeOf(snapshot)) {
    case MoveOutcome::kSettled:
      return "settled";
    case MoveOutcome::kAborted:
      return "aborted";
    case MoveOutcome::kFailed:
      return "failed";
  }
  return "";
}

std::string Eta(const MoveSnapshot& snapshot) {
  return snapshot.eta_seconds ? HumanDuration(*snapshot.eta_seconds) + " left" : "";
}

std::string BarLine(const MoveSnapshot& snapshot, const ViewStyle& style) {
  std::string behind = " " + PadLeft(HumanPercent(snapshot.progress), 6);
  if (const std::string eta = Eta(snapshot); !eta.empty() && snapshot.under_way()) behind += "  " + eta;
  const size_t taken = behind.size() + 2;
  const size_t room = style.width > taken ? std::min(style.width - taken, kMaxBarCells) : 0;
  if (room < kMinBarCells) return behind.substr(1);
  return "[" + Coloured(Bar(snapshot.progress, room, style), ColourOf(snapshot), style) + "]" + behind;
}

std::string Figures(const MoveSnapshot& snapshot) {
  std::string text = HumanCount(snapshot.keys_moved) + " keys moved, " + HumanCount(snapshot.keys_remaining) +
                     " left, " + HumanCount(snapshot.keys_per_second) + "/s, " +
                     HumanBytes(snapshot.bytes_moved);
  if (snapshot.keys_on_access > 0) text += ", " + HumanCount(snapshot.keys_on_access) + " on access";
  if (snapshot.big_keys > 0) text += ", " + HumanCount(snapshot.big_keys) + " big";
  if (snapshot.errors > 0) text += ", " + HumanCount(snapshot.errors) + " errors";
  return text;
}

std::string PauseWords(const MoveSnapshot& snapshot) {
  if (snapshot.state != "paused") return "";
  return snapshot.pause_reason.empty() ? "paused by RING PAUSE; RING RESUME goes on"
                                       : "paused: " + Printable(snapshot.pause_reason);
}

void AddPairs(const MoveSnapshot& snapshot, size_t room, const ViewStyle& style,
              std::vector<std::string>* lines) {
  // A title and a pair at least.
  if (snapshot.pairs.empty() || room < 2) return;
  // When not all fit, the last line says how many do not; pairs that have nothing left are the ones to miss.
  const bool all = snapshot.pairs.size() + 1 <= room;
  const size_t shown = all ? snapshot.pairs.size() : room - 2;
  if (shown == 0) return;
  std::vector<MoveSnapshot::Pair> pairs = snapshot.pairs;
  if (!all) {
    std::stable_partition(pairs.begin(), pairs.end(),
                          [](const MoveSnapshot::Pair& pair) { return pair.remaining > 0; });
  }
  pairs.resize(shown);
  std::vector<std::vector<std::string>> rows;
  for (const MoveSnapshot::Pair& pair : pairs) {
    rows.push_back({Printable(pair.from), Printable(pair.to), HumanCount(pair.keys),
                    HumanCount(pair.remaining), HumanBytes(pair.bytes), HumanPercent(pair.share),
                    HumanCount(pair.on_access), HumanCount(pair.errors)});
  }
  const std::vector<Column> columns = {{"from", true}, {"to", true}, {"moved"},     {"left"},
                                       {"bytes"},      {"ring"},     {"on access"}, {"errors"}};
  for (std::string& line : TableLines(columns, rows, style.width)) lines->push_back(std::move(line));
  if (!all) {
    lines->push_back("  and " + std::to_string(snapshot.pairs.size() - shown) + " more");
  }
}

}  // namespace

std::vector<std::string> DrawFrame(const MoveSnapshot& snapshot, const std::string& trouble,
                                   const ViewStyle& style) {
  std::vector<std::string> lines;
  lines.push_back(Coloured("move " + std::to_string(snapshot.id), kBold, style) + " " +
                  Coloured(StateWord(snapshot), ColourOf(snapshot), style) + ": " +
                  Printable(snapshot.change));
  lines.push_back(BarLine(snapshot, style));
  lines.push_back(Figures(snapshot));
  if (const std::string words = PauseWords(snapshot); !words.empty()) {
    lines.push_back(Coloured(words, kYellow, style));
  }
  if (!trouble.empty()) lines.push_back(Coloured(Printable(trouble), kRed, style));
  const size_t height = std::max<size_t>(style.height, 2) - 1;
  if (lines.size() > height) lines.resize(height);
  AddPairs(snapshot, height - lines.size(), style, &lines);
  for (std::string& line : lines) line = ClipCells(line, style.width);
  return lines;
}

std::string DrawLine(const MoveSnapshot& snapshot) {
  std::string line = "move " + std::to_string(snapshot.id) + " " + StateWord(snapshot) + " " +
                     HumanPercent(snapshot.progress) + ": " + Figures(snapshot);
  if (const std::string eta = Eta(snapshot); !eta.empty()) line += ", " + eta;
  if (!snapshot.pause_reason.empty()) line += "; " + PauseWords(snapshot);
  return line;
}

std::string DescribeEnd(const MoveSnapshot& snapshot) {
  std::string text = "move " + std::to_string(snapshot.id) + " " + StateWord(snapshot) + ": ";
  if (OutcomeOf(snapshot) == MoveOutcome::kFailed) {
    text += (snapshot.error.empty() ? "the proxy gives no reason" : Printable(snapshot.error)) + "; ";
  }
  text += HumanCount(snapshot.keys_moved) + " keys (" + HumanBytes(snapshot.bytes_moved) + ") moved";
  if (snapshot.started > 0 && snapshot.finished > snapshot.started) {
    text += " in " + HumanDuration(snapshot.finished - snapshot.started);
  }
  text += ", " + HumanCount(snapshot.keys_on_access) + " of them on access";
  if (snapshot.keys_given_up > 0) text += ", " + HumanCount(snapshot.keys_given_up) + " given up";
  if (snapshot.hold_usec > 0) text += "; clients waited at most " + HumanUsec(snapshot.hold_usec);
  return text;
}

}  // namespace ringway::proxy::reshard
