#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/hotkey/bucket_name.h"
#include "tests/unit/proxy/route/move_fixture.h"
#include "tests/unit/proxy/route/router_fixture.h"

namespace ringway::proxy {

// Makes keys hot in a CoreWorld, as the control thread and fills would: says where buckets are and which
// copies they have. Shards are given by their indices. Thread: one. Owns: the present HotSet.
class HotPlay {
 public:
  static constexpr std::string_view kRun = "0123456789abcdef";

  explicit HotPlay(CoreWorld& world) : world_(world) { SetLimits(1000, 1024 * 1024); }

  void SetLimits(int64_t max_staleness_ms, int64_t max_bytes, CopyRegistry* copies = nullptr) {
    hot_keys().set_fill_settings({std::string(kRun), max_staleness_ms, max_bytes}, copies);
  }
  // A hot key with buckets on these shards, not yet settled.
  std::shared_ptr<HotPlacement> Spread(const std::string& key, const std::vector<uint32_t>& shards,
                                       uint32_t db = 0, uint64_t workers = 1) {
    auto placement = std::make_shared<HotPlacement>(std::make_shared<HotKey>(db, key, workers),
                                                    world_.router.topology().ring.Hash(key), shards);
    placements_.push_back(placement);
    Publish();
    return placement;
  }
  // The same, settled.
  std::shared_ptr<HotPlacement> Make(const std::string& key, const std::vector<uint32_t>& shards,
                                     uint32_t db = 0) {
    auto placement = Spread(key, shards, db);
    Tick();
    EXPECT_FALSE(placement->key->state().written());
    return placement;
  }
  void Cool(const std::shared_ptr<HotPlacement>& placement) {
    placement->key->Retire();
    std::erase(placements_, placement);
    Publish();
  }
  void Publish() {
    auto set = std::make_shared<HotSet>();
    set->keys = placements_;
    world_.router.Adopt(std::shared_ptr<const HotSet>(std::move(set)));
  }
  void Tick() {
    hot_keys().Tick(world_.now_usec);
    world_.EndTurn();
  }

  // Puts a copy into a bucket, so that no fill is due; answers its name.
  std::string Fill(HotPlacement& placement, size_t bucket = 0, int64_t life_usec = 1'000'000) {
    const uint64_t id = NextCopyId();
    const uint64_t generation = placement.key->state().generation();
    placement.buckets[bucket]->copy.Set({id, generation, world_.now_usec + life_usec});
    placement.filled_generation = generation;
    placement.refill_usec = std::numeric_limits<int64_t>::max();
    return placement.key->key() + BucketSuffix(kRun, id);
  }

  // Reads by clients with nothing else under way, who do not wait for the answers.
  void ReadByOthers(const std::string& key, int reads, uint32_t db = 0) {
    for (int i = 0; i < reads; ++i) {
      FakeClient other(world_.environment, 100);
      other.session().state().db = db;
      other.Send(Command({"GET", key}));
    }
    world_.EndTurn();
  }

  // Reads prefer other shards.
  void Burden(uint32_t shard, uint64_t requests = 1'000'000) {
    Counter& in_flight = world_.stats.by_shard.At(shard).in_flight;
    in_flight.Set(in_flight.Get() + requests);
  }
  void Relieve(uint32_t shard, uint64_t requests = 1'000'000) {
    Counter& in_flight = world_.stats.by_shard.At(shard).in_flight;
    in_flight.Set(in_flight.Get() - requests);
  }

  HotKeys& hot_keys() { return world_.router.hot_keys(); }

 private:
  CoreWorld& world_;
  std::vector<std::shared_ptr<HotPlacement>> placements_;
};

template <typename Base>
class HotFixture : public Base {
 protected:
  template <typename... Args>
  explicit HotFixture(const Args&... args) : Base(args...) {}
  ~HotFixture() override {
    this->client.reset();
    this->world.pool.Close();
    EXPECT_EQ(this->world.requests.in_use(), 0u) << "a request leaks";
  }

  HotPlay hot{this->world};
};

// A key of shard 0 with a copy on shard 1, which reads prefer.
class HotTest : public HotFixture<RouterTest> {
 protected:
  explicit HotTest(const CoreWorld::Options& options = {}) : HotFixture(options) { hot.Burden(0); }

  // What the client gets when the copy has answered with this.
  std::string FromCopy(std::string_view reply) { return Reply(1, reply); }
  std::string FromKey(std::string_view reply) { return Reply(0, reply); }
  HotKey::State state() const { return placement->key->state(); }

  const std::string key = world.KeyOn(0, "hot");
  const std::shared_ptr<HotPlacement> placement = hot.Make(key, {1});
  std::string copy = hot.Fill(*placement);
};

}  // namespace ringway::proxy
