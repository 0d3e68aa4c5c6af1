#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/data/batch.h"

namespace forebay {

/// Counts the rows handed to the trainer by the node that made them. Pure state; its caller guards
/// it.
class RowsByNode {
 public:
  explicit RowsByNode(std::uint64_t splits_per_epoch) : splits_per_epoch_(splits_per_epoch) {}

  /// Records that this node has made the split, with `rows` rows after filtering.
  void made(std::uint64_t split, const std::string& node, std::uint64_t rows);

  /// Records that the trainer has received everything before `position`.
  void given(const Position& position);

  /// Returns the rows at `position`, including rows of splits that were handed over in part.
  std::map<std::string, std::uint64_t> at(const Position& position) const;

 private:
  struct Made {
    std::string node;
    std::uint64_t rows = 0;
  };

  std::uint64_t frontier(const Position& position) const {
    return position.epoch * splits_per_epoch_ + position.split;
  }

  const std::uint64_t splits_per_epoch_;
  std::uint64_t frontier_ = 0;  // all splits below it were handed over whole
  std::map<std::string, std::uint64_t> rows_;
  std::map<std::uint64_t, Made> pending_;  // splits at or after the trainer's position
};

}  // namespace forebay
