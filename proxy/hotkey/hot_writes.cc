#include "proxy/hotkey/hot_writes.h"

#include "proxy/move/test_fault.h"

namespace ringway::proxy {

class HotWrites::Hook final : public CompletionHook {
 public:
  explicit Hook(HotWrites& writes) : writes_(writes) {}

  void Begin(std::vector<std::shared_ptr<HotKey>>& keys) {
    keys_.swap(keys);
    for (const auto& key : keys_) key->BeginWrite();
  }
  void OnComplete(bool in_doubt) override {
    for (const auto& key : keys_) {
      writes_.stats_.bucket_invalidations.Add();
      if (in_doubt) {
        writes_.settling_.Add(key, writes_.home_.ServersOf(key->key()));
      } else {
        key->EndWrite();
      }
    }
    keys_.clear();
    writes_.free_.push_back(this);
  }

 private:
  HotWrites& writes_;
  std::vector<std::shared_ptr<HotKey>> keys_;
};

HotWrites::HotWrites(HotSettling& settling, HotKeyHome& home, WorkerStats& stats)
    : settling_(settling), home_(home), stats_(stats) {}

HotWrites::~HotWrites() = default;

void HotWrites::Attach(Request& request) {
  if (CurrentTestFault() == TestFault::kSkipGeneration) {
    Drop();
    return;
  }
  if (free_.empty()) free_.push_back(hooks_.emplace_back(std::make_unique<Hook>(*this)).get());
  Hook* hook = free_.back();
  free_.pop_back();
  hook->Begin(noted_);
  Drop();
  request.hook = hook;
}

}  // namespace ringway::proxy
