#include "actors/split_queue.h"

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

}  // namespace forebay
