#include "actors/split_issuer.h"

namespace forebay {

SplitId split_id(std::uint64_t number, const EpochOrder& order) {
  SplitId id;
  id.number = number;
  id.epoch = number / order.num_splits();
  id.index = number % order.num_splits();
  id.row_key = order.row_key(id.epoch, id.index);
  return id;
}

SplitQueue::SplitQueue(const EpochOrder& order, std::uint64_t epochs, const Position& start)
    : order_(order),
      end_(epochs * order.num_splits()),
      next_(start.epoch * order.num_splits() + start.split) {
  for (const std::uint32_t distance : start.ahead) given_out_.insert(next_ + distance);
  const std::uint64_t first = start.epoch * order.num_splits() + start.first_split();
  if (first != next_) {
    open_ = first;
    given_out_.insert(first);
  }
  skip_given_out();
}

std::optional<SplitId> SplitQueue::front() const {
  if (open_) return split_id(*open_, order_);
  if (next_ >= end_) return std::nullopt;
  return split_id(next_, order_);
}

void SplitQueue::pop() {
  if (open_) {
    open_.reset();
    return;
  }
  ++next_;
  skip_given_out();
}

void SplitQueue::skip_given_out() {
  while (given_out_.erase(next_) > 0) ++next_;
}

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

std::optional<Split> SplitIssuer::next(std::uint64_t lowest_missing) {
  const auto id = queue_.front();
  if (!id) return std::nullopt;
  const bool too_far = id->number > lowest_missing && id->number - lowest_missing >= most_ahead_;
  if (in_flight_ > 0 && too_far) return std::nullopt;
  Split split = split_to_make(*id, order_, sizing_);
  if (!take_room(split.id.cost)) return std::nullopt;
  queue_.pop();
  issued_.fetch_add(1, std::memory_order_relaxed);
  return split;
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
