#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/data/batch.h"
#include "scheduler/cluster_status.h"

namespace forebay {

/// The name of the trainer's own worker among the nodes.
inline constexpr const char* kLocalNode = "local";

/// Returns the cluster status of `job` as its trainer sees it: the head's status, or only the split
/// client's if the head cannot be asked or serves another job. Problems are never dropped: if the
/// head reports none of them, the split client's problems are included. Pure.
scheduler::ClusterStatus trainer_view(const std::string& job,
                                      std::optional<scheduler::ClusterStatus> head,
                                      const scheduler::SplitClientStatus& split_client);

/// Returns why workers were refused, as one text, if no node makes splits of the job; empty if a
/// node does, or if no worker was refused. Pure.
std::string refusals(const scheduler::ClusterStatus& cluster);

/// Tracks which problems were reported lately: the same problem is reported again after 30 seconds.
/// Problems that differ only in figures (for example a duration) are the same. Pure state.
class Problems {
 public:
  bool is_news(const std::string& problem, std::chrono::nanoseconds now);

 private:
  // Problem without figures → time of its last report.
  std::map<std::string, std::chrono::nanoseconds> said_;
};

/// Counts the rows handed to the trainer by the node that made them. Pure state; its caller guards
/// it.
class RowsByNode {
 public:
  /// `rows_per_split`: the mean.
  explicit RowsByNode(std::uint64_t splits_per_epoch, std::uint64_t rows_per_split = 1)
      : splits_per_epoch_(splits_per_epoch), rows_per_split_(rows_per_split) {}

  /// Records where the run begins: rows of a split before that were given in an earlier run, and
  /// do not count though the split is made again.
  void begin(const Position& position);

  /// Records that this node has made the split, with `rows` rows after filtering.
  void made(std::uint64_t split, const std::string& node, std::uint64_t rows);

  /// Records that the trainer has received everything before `position`.
  void given(const Position& position);

  /// Returns how many splits the trainer has received since the job's start, with the share of the
  /// one that it received in part.
  double taken() const { return taken_; }

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

  std::uint64_t open_split(const Position& position) const {
    return position.epoch * splits_per_epoch_ + position.first_split();
  }
  /// Of a split's first `rows` rows, those that this run gives.
  std::uint64_t own_rows(std::uint64_t split, std::uint64_t rows) const {
    return split == resumed_split_ ? rows - std::min(rows, rows_before_) : rows;
  }

  const std::uint64_t splits_per_epoch_;
  const std::uint64_t rows_per_split_;
  std::uint64_t resumed_split_ = 0;
  std::uint64_t rows_before_ = 0;  // of that split
  double taken_ = 0;
  std::uint64_t frontier_ = 0;  // all splits below it were handed over whole
  std::map<std::string, std::uint64_t> rows_;
  std::map<std::uint64_t, Made> pending_;  // splits at or after the trainer's position
};

}  // namespace forebay
