#include "proxy/control/migration_board.h"

#include <algorithm>
#include <utility>

namespace ringway::proxy {
namespace {

uint64_t Load(const std::atomic<uint64_t>& figure) { return figure.load(std::memory_order_relaxed); }

}  // namespace

MoveCounts MigrationReport::Total() const {
  MoveCounts total;
  for (const MovePairCounts& pair : pairs) {
    total.keys_on_access += pair.counts.keys_on_access;
    total.keys_background += pair.counts.keys_background;
    total.keys_absent += pair.counts.keys_absent;
    total.bytes += pair.counts.bytes;
    total.errors += pair.counts.errors;
    total.remaining += pair.counts.remaining;
    total.share += pair.counts.share;
  }
  return total;
}

double MigrationReport::Progress() const {
  if (id == 0) return 0;
  if (state == "settling" || !under_way()) return 1;
  const MoveCounts total = Total();
  const auto moved = static_cast<double>(total.keys());
  const auto all = moved + static_cast<double>(total.remaining);
  return all == 0 ? 0 : moved / all;
}

void ReadFigures(const MovePlan& plan, MigrationReport* report) {
  report->pairs.clear();
  const MoveFigures& figures = plan.figures();
  for (size_t i = 0; i < plan.pairs().size(); ++i) {
    const MovePlan::Pair& pair = plan.pairs()[i];
    const MoveFigures::Pair& seen = figures.pairs[i];
    MoveCounts counts;
    counts.keys_on_access = Load(seen.keys_on_access);
    counts.keys_background = Load(seen.keys_background);
    counts.keys_absent = Load(seen.keys_absent);
    counts.bytes = Load(seen.bytes);
    counts.errors = Load(seen.errors);
    counts.remaining =
        static_cast<uint64_t>(std::max<int64_t>(seen.remaining.load(std::memory_order_relaxed), 0));
    counts.share = pair.share;
    report->pairs.push_back({plan.from()[pair.from].config.name, plan.to()[pair.to].config.name, counts});
  }
  report->big_keys = Load(figures.big_keys);
}

MigrationReport MigrationBoard::Get() const {
  MutexLock lock(mutex_);
  MigrationReport report = report_;
  if (plan_ != nullptr) ReadFigures(*plan_, &report);
  return report;
}

void MigrationBoard::Set(MigrationReport report, std::shared_ptr<const MovePlan> plan) {
  MutexLock lock(mutex_);
  report_ = std::move(report);
  plan_ = std::move(plan);
}

uint64_t MigrationBoard::keys_per_second() const {
  MutexLock lock(mutex_);
  return keys_per_second_;
}

void MigrationBoard::set_keys_per_second(uint64_t rate) {
  MutexLock lock(mutex_);
  keys_per_second_ = rate;
}

}  // namespace ringway::proxy
