#include "actors/split_queue.h"

namespace forebay {

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

SplitId SplitQueue::id_of(std::uint64_t number) const {
  SplitId id;
  id.number = number;
  id.epoch = number / order_.num_splits();
  id.index = number % order_.num_splits();
  id.row_key = order_.row_key(id.epoch, id.index);
  return id;
}

std::optional<SplitId> SplitQueue::front() const {
  if (open_) return id_of(*open_);
  if (next_ >= end_) return std::nullopt;
  return id_of(next_);
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
