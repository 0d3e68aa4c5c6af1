#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/data/batch.h"

namespace forebay {

/// Whose rows the trainer got: what each node made of what was handed over. Pure state; its caller
/// guards it.
class RowsByNode {
 public:
  explicit RowsByNode(std::uint64_t splits_per_epoch) : splits_per_epoch_(splits_per_epoch) {}

  /// This node has made the split, with so many rows that remain.
  void made(std::uint64_t split, const std::string& node, std::uint64_t rows);

  /// The trainer has everything up to here.
  void given(const Position& position);

  /// At `position`, the rows of splits that were only in part handed over included.
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
  std::uint64_t frontier_ = 0;  // All below it were handed over whole.
  std::map<std::string, std::uint64_t> rows_;
  std::map<std::uint64_t, Made> pending_;  // not below the trainer's position
};

}  // namespace forebay
