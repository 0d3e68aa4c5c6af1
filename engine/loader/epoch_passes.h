#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "core/data/batch.h"

namespace forebay {

/// Cuts a stream of batches into passes, one for each epoch.
///
/// The end of an epoch is known with its last batch, or, if rows behind that batch are left out,
/// with the first batch of the next epoch, which is kept for the next pass. A pass belongs to the
/// epoch of its first batch, so a pass that begins where an epoch has ended is the next epoch's.
/// Pure state; belongs to one thread.
class EpochPasses {
 public:
  /// Begins a pass: the epoch of the next batch is its epoch.
  void begin() {
    epoch_.reset();
    at_end_ = false;
  }

  /// Whether the last batch of the pass is known to have been given out.
  bool at_end() const { return at_end_; }

  /// Returns the batch that was kept for this pass, once; null if none was.
  std::shared_ptr<const Batch> take_kept() { return std::move(kept_); }
  bool has_kept() const { return kept_ != nullptr; }
  /// Where the pass before the kept batch has ended: at the end of its epoch, behind rows that were
  /// left out. `last`: the position after its last batch.
  Position end_of_pass(const Position& last) const;
  std::uint64_t kept_rows() const { return kept_ == nullptr ? 0 : kept_->rows; }

  /// Takes the next batch of the stream. Returns whether it belongs to this pass; if not, keeps it,
  /// and the pass has ended.
  bool add(const std::shared_ptr<const Batch>& batch);

 private:
  std::optional<std::uint64_t> epoch_;  // of the pass, once it has a batch
  bool at_end_ = false;
  std::shared_ptr<const Batch> kept_;
};

}  // namespace forebay
