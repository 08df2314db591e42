#include "proxy/control/key_mover.h"

#include <algorithm>
#include <utility>

#include "proxy/control/source_mover.h"

namespace ringway::proxy {

class KeyMover::Sources final : public SourceMover::Host {
 public:
  Sources(ControlLinks& links, KeyMover::Host& host, RelayPort* relay, const Options& options)
      : context_{links, relay, options, nullptr, {}}, host_(host) {
    end_event_.Assign(links.loop.base(), -1, 0, &Sources::OnEnd, this);
  }

  void Start(std::shared_ptr<const MovePlan> plan, const Limits& limits) {
    context_.plan = std::move(plan);
    SetLimits(limits);
    for (uint32_t source = 0; source < context_.plan->from().size(); ++source) {
      const auto& pairs = context_.plan->pairs();
      const bool gives = std::any_of(pairs.begin(), pairs.end(),
                                     [source](const MovePlan::Pair& pair) { return pair.from == source; });
      if (gives) sources_.push_back(std::make_unique<SourceMover>(context_, *this, source));
    }
    if (sources_.empty()) end_event_.AddTimeout(0);
    Wake();
  }

  void SetLimits(const Limits& limits) {
    context_.allowance.SetRate(limits.keys_per_second);
    context_.max_source_busy = limits.max_source_busy;
    Wake();
  }

  void SetPaused(bool paused) {
    context_.paused = paused;
    if (!paused) Wake();
  }

  void Stop(std::function<void()> done) {
    context_.stopping = true;
    stopped_ = std::move(done);
    OnSourceQuiet();
  }

 private:
  static void OnEnd(evutil_socket_t, short, void* argument) {
    auto* self = static_cast<Sources*>(argument);
    self->context_.links.loop.NoteWake();
    self->end_event_.NoteFired();
    self->OnSourceClean();
  }

  void Wake() {
    for (auto& source : sources_) source->Wake();
  }

  void OnSourceClean() override {
    if (context_.stopping) return;
    const bool all =
        std::all_of(sources_.begin(), sources_.end(), [](const auto& it) { return it->clean(); });
    if (!all) return;
    context_.stopping = true;
    host_.OnMoverIdle();
  }

  // The first source that has trouble speaks for all.
  void OnSourceTrouble() override {
    const auto troubled = std::find_if(sources_.begin(), sources_.end(),
                                       [](const auto& source) { return !source->trouble().empty(); });
    const std::string trouble = troubled == sources_.end() ? "" : (*troubled)->trouble();
    if (trouble == told_) return;
    told_ = trouble;
    if (trouble.empty()) {
      host_.OnMoverWell();
    } else {
      host_.OnMoverTrouble(trouble);
    }
  }

  void OnSourceQuiet() override {
    if (stopped_ == nullptr) return;
    if (std::any_of(sources_.begin(), sources_.end(), [](const auto& source) { return source->busy(); }))
      return;
    const std::function<void()> done = std::exchange(stopped_, nullptr);
    done();
  }

  MoverContext context_;
  KeyMover::Host& host_;
  std::vector<std::unique_ptr<SourceMover>> sources_;
  std::string told_;
  std::function<void()> stopped_;
  Event end_event_;  // of a plan without sources: the host is not called back from Start
};

KeyMover::KeyMover(ControlLinks& links, Host& host, RelayPort* relay, const Options& options)
    : sources_(std::make_unique<Sources>(links, host, relay, options)) {}

KeyMover::~KeyMover() = default;

void KeyMover::Start(std::shared_ptr<const MovePlan> plan, const Limits& limits) {
  sources_->Start(std::move(plan), limits);
}

void KeyMover::SetLimits(const Limits& limits) { sources_->SetLimits(limits); }

void KeyMover::Pause() { sources_->SetPaused(true); }

void KeyMover::Resume() { sources_->SetPaused(false); }

void KeyMover::Stop(std::function<void()> done) { sources_->Stop(std::move(done)); }

}  // namespace ringway::proxy
