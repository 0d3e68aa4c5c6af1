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

}  // namespace forebay
