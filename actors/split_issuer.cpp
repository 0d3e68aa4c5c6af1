#include "actors/split_issuer.h"

#include <utility>

namespace forebay {
namespace {

/// Window bytes of a split of which no row is needed: its message. They bound the number of such
/// splits, too.
constexpr std::uint64_t kLeftOutCost = 1 << 10;

}  // namespace

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

Split split_left_out(const SplitId& id, std::shared_ptr<const SplitShare> share) {
  Split split{.id = id};
  split.id.cost = kLeftOutCost;
  split.partial = PartialRows{.all = share->rows, .ranges = {}};
  split.share = std::move(share);
  return split;
}

SplitIssuer::SplitIssuer(const OrderSpec& spec, const Position& start, const EpochOrder& order,
                         const Sizing& sizing, MemoryBudget& window, std::optional<RankWalk> walk)
    : order_(order),
      sizing_(sizing),
      window_(window),
      queue_(order, spec.epochs, start),
      walk_(std::move(walk)),
      most_ahead_(spec.mode == OrderSpec::Mode::kArrival ? kMostAhead : ~std::uint64_t{0}),
      taken_(start.batches) {}

std::optional<Split> SplitIssuer::next(std::uint64_t lowest_missing) {
  const auto id = queue_.front();
  if (!id) return std::nullopt;
  const bool too_far = id->number > lowest_missing && id->number - lowest_missing >= most_ahead_;
  if (!in_flight_.empty() && too_far) return std::nullopt;
  if (is_for_later(*id)) return std::nullopt;
  Split split = front_split(*id);
  if (!take_room(split.id)) return std::nullopt;
  queue_.pop();
  if (walk_) walk_->pass(*split.share);
  issued_.fetch_add(1, std::memory_order_relaxed);
  return split;
}

// The flag is set before the count is read, and taken() writes the count before it reads the flag:
// no call of taken() is missed.
bool SplitIssuer::is_for_later(const SplitId& id) {
  if (!walk_ || walk_->batches_per_epoch() == 0) return false;
  const auto is_later = [&] { return id.epoch > (taken_ + 1) / walk_->batches_per_epoch(); };
  if (!is_later()) return false;
  held_back_ = true;
  return is_later();
}

bool SplitIssuer::taken(std::uint64_t batches) {
  taken_ = batches;
  return held_back_.exchange(false);
}

Split SplitIssuer::front_split(const SplitId& id) const {
  if (!walk_) return split_to_make(id, order_, sizing_);
  auto share = walk_->share_of(id);
  if (!share->is_needed()) return split_left_out(id, std::move(share));
  Split split = split_to_make(id, order_, sizing_);
  split.share = std::move(share);
  return split;
}

void SplitIssuer::batched(std::uint64_t number) {
  if (const auto split = in_flight_.extract(number)) window_.give(split.mapped());
}

// If no issued split is in flight, the next one always gets window bytes, so the lowest missing
// split cannot starve.
bool SplitIssuer::take_room(const SplitId& id) {
  if (!window_.try_take(id.cost)) {
    if (!in_flight_.empty()) return false;
    window_.take(id.cost);
  }
  in_flight_.emplace(id.number, id.cost);
  return true;
}

}  // namespace forebay
