#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "actors/stage/split.h"
#include "actors/stage/split_assembly.h"
#include "actors/transform/transform.h"
#include "core/data/buffer_pool.h"
#include "core/runtime/synchronized.h"

namespace forebay {

/// Gives out the parts of splits of grains, in order, as long as their bytes fit into a budget.
///
/// Parts of the lowest split go first. Every split may have one part out, whatever its bytes, so
/// that no part which somebody waits for is held up by parts behind it. Any thread.
class PartQueue {
 public:
  /// `plan` outlives the queue.
  explicit PartQueue(const TransformPlan& plan) : plan_(plan) {}

  /// The bytes of parts that are out: from here until returned().
  MemoryBudget& budget() { return budget_; }
  const MemoryBudget& budget() const { return budget_; }

  /// Adds a split of which all pieces are there. Returns the parts to make now.
  std::vector<Split> add(std::shared_ptr<SplitAssembly> split);

  /// The bytes of a part are free; `part` is its id, with its cost. Returns the parts to make now.
  /// Does nothing for a split that was not added here.
  std::vector<Split> returned(const SplitId& part);

 private:
  struct Waiting {
    std::shared_ptr<SplitAssembly> split;  // null once all of its parts are out
    std::size_t next = 0;                  // part
    std::size_t out = 0;
  };

  std::vector<Split> give_out();
  std::uint64_t cost_of(const SplitAssembly& split, std::size_t part) const;

  const TransformPlan& plan_;
  MemoryBudget budget_{0};
  const Synchronized<> serial_{};
  std::map<std::uint64_t, Waiting> waiting_;  // by number
};

}  // namespace forebay
