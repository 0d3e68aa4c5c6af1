#include "actors/split_issuer.h"

#include <utility>

namespace forebay {

Split split_to_make(const SplitId& id, const EpochOrder& order, const Sizing& sizing) {
  Split split{.id = id};
  split.raw.blocks = order.blocks(id.epoch, id.index);
  split.id.cost = sizing.split_cost(split.raw.blocks);
  return split;
}

SplitIssuer::SplitIssuer(const OrderSpec& spec, const Position& start, const EpochOrder& order,
                         const Sizing& sizing, MemoryBudget& window)
    : order_(order),
      sizing_(sizing),
      window_(window),
      queue_(order, spec.epochs, start),
      most_ahead_(spec.mode == OrderSpec::Mode::kArrival ? kMostAhead : ~std::uint64_t{0}) {}

void SplitIssuer::issue_what_fits(IssuedSplits& to, std::uint64_t lowest_missing) {
  while (auto id = queue_.front()) {
    const bool too_far = id->number > lowest_missing && id->number - lowest_missing >= most_ahead_;
    if (in_flight_ > 0 && too_far) return;
    Split split = split_to_make(*id, order_, sizing_);
    if (!take_room(split.id.cost)) return;
    queue_.pop();
    issued_.fetch_add(1, std::memory_order_relaxed);
    to.issue(std::move(split));
  }
}

void SplitIssuer::batched(const SplitId& id) {
  window_.give(id.cost);
  --in_flight_;
}

// If no issued split is in flight, the next one always gets window bytes, so the lowest missing
// split cannot starve.
bool SplitIssuer::take_room(std::uint64_t cost) {
  if (!window_.try_take(cost)) {
    if (in_flight_ > 0) return false;
    window_.take(cost);
  }
  ++in_flight_;
  return true;
}

}  // namespace forebay
