#include "engine/loader/epoch_passes.h"

namespace forebay {
namespace {

// A batch has at least one row, so the position after it is the start of an epoch only if the batch
// was the last of the epoch before.
std::uint64_t epoch_of(const Batch& batch) {
  const Position& after = batch.after;
  const bool at_start = after.split == 0 && after.split_rows == 0 && after.ahead.empty();
  return at_start ? after.epoch - 1 : after.epoch;
}

}  // namespace

bool EpochPasses::add(const std::shared_ptr<const Batch>& batch) {
  const std::uint64_t epoch = epoch_of(*batch);
  at_end_ = epoch_ && *epoch_ != epoch;
  if (at_end_) {
    kept_ = batch;
    return false;
  }
  epoch_ = epoch;
  at_end_ = batch->after.epoch > epoch;
  return true;
}

// The counts of what the first epoch left out are complete in every position behind it.
Position EpochPasses::end_of_pass(const Position& last) const {
  Position end = kept_->after;
  end.epoch = epoch_of(*kept_);
  end.split = end.split_rows = end.open_split = end.left_out = 0;
  end.ahead.clear();
  end.batches = last.batches;
  end.rows = last.rows;
  end.digest = last.digest;
  return end;
}

}  // namespace forebay
