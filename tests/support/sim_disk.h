#pragma once

#include <functional>
#include <string>

#include "core/base/random.h"
#include "core/store/store.h"

namespace forebay::test {

/// The content of a disk when its process dies: a Store that outlives the processes that write to
/// it.
///
/// Refuses writes while it is full. When set to die in the midst of a write it keeps, by seed,
/// nothing of the batch, all of it, or some of its changes, the last of them torn; and calls
/// `on_death`.
class SimDisk final : public Store {
 public:
  explicit SimDisk(std::uint64_t seed) : random_(seed) {}

  bool full = false;
  bool dies_in_next_write = false;
  std::function<void()> on_death;

  Result<std::string> get(std::string_view key) const override { return kept_.get(key); }
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override {
    return kept_.scan(prefix, from, visit);
  }

  Status write(const StoreBatch& batch) override {
    if (full) return fail(Code::kUnavailable, "the disk is full");
    if (!dies_in_next_write) return kept_.write(batch);
    dies_in_next_write = false;
    const std::size_t whole = random_.below(batch.changes().size() + 1);
    StoreBatch torn;
    for (std::size_t i = 0; i < whole; ++i) {
      const auto& change = batch.changes()[i];
      change.value ? torn.put(change.key, *change.value) : torn.erase(change.key);
    }
    const bool has_next = whole < batch.changes().size();
    // A snapshot is one value in a store with atomic batches: it is never torn.
    if (has_next && batch.changes()[whole].value && batch.changes()[whole].key != "snapshot") {
      const std::string& value = *batch.changes()[whole].value;
      torn.put(batch.changes()[whole].key, value.substr(0, random_.below(value.size() + 1)));
    }
    static_cast<void>(kept_.write(torn));
    if (on_death) on_death();
    return fail(Code::kUnavailable, "the process is dying");
  }

 private:
  Random random_;
  MemoryStore kept_;
};

}  // namespace forebay::test
