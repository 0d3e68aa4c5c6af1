#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>

#include "actors/stage/split.h"
#include "core/data/batch.h"

namespace forebay {

/// Keeps a run's Position in step with the rows given out.
///
/// The owner reports each split when its rows join the end of the line, and each batch that takes
/// rows from the front of the line; from these calls Cursor derives which splits are given out
/// whole. Pure state without I/O; belongs to one thread.
class Cursor {
 public:
  Cursor(Position start, std::size_t splits_per_epoch);

  /// Rows of split `id` that an earlier run has given out already, less those that were skipped in
  /// its parts so far.
  std::size_t rows_to_skip(const SplitId& id) const;

  /// A split, or the next part of one.
  struct Joining {
    std::size_t rows = 0;     ///< All of them.
    std::size_t skipped = 0;  ///< Those at its start that do not join; at most rows_to_skip().
    std::uint64_t bad = 0;
    std::uint64_t held_out = 0;
    std::uint64_t sampled = 0;
    bool is_last = true;  ///< No part of the split is to come.
  };

  /// Appends rows of split `id` to the end of the line. The parts of a split follow one another.
  void append(const SplitId& id, const Joining& part);

  /// Records that the first `rows` rows in line went out as one batch with content `digest`.
  void give_out(std::size_t rows, const Digest& digest);

  /// Takes the first `rows` rows out of the line: into a batch, or for good (`drop_last`).
  void leave_out(std::size_t rows);

  /// Whether every split of the epoch now being given out has been appended.
  bool epoch_is_complete() const { return appended_ == splits_per_epoch_; }

  /// The epoch whose splits are being appended.
  std::uint64_t epoch() const { return epoch_; }

  /// Starts the next epoch, whose splits may then be appended. Call it after epoch_is_complete()
  /// and once the epoch's last row has left the line.
  void start_next_epoch();

  /// The lowest split of the current epoch that has not been appended.
  std::uint64_t lowest_missing() const { return lowest_missing_; }

  /// The rows that an epoch left out and the rows that the first epoch left out, when the two
  /// differ: the files changed, or the start position belongs to another job.
  struct Uneven {
    std::uint64_t left_out = 0;
    std::uint64_t counted = 0;
  };
  const std::optional<Uneven>& uneven() const { return uneven_; }

  Position position() const;

 private:
  struct InLine {
    std::uint64_t index = 0;
    std::size_t rows_left = 0;
    std::size_t rows_given = 0;
    std::uint64_t bad = 0;
    std::uint64_t held_out = 0;
    std::uint64_t sampled = 0;
    bool is_whole = false;  // its last part is in line
  };

  void finish_given_out();
  void finish(const InLine& split);
  void end_epoch();

  const std::size_t splits_per_epoch_;
  const Position start_;
  Position position_;
  std::uint64_t epoch_;
  std::size_t appended_;
  std::set<std::uint64_t> appended_ahead_;  // of the current epoch, above lowest_missing_
  std::uint64_t lowest_missing_;
  std::set<std::uint64_t> finished_ahead_;  // above position_.split
  std::deque<InLine> line_;
  std::size_t skipped_ = 0;  // of start_.split_rows
  std::optional<Uneven> uneven_;
  bool begun_ =
      false;  // Until a split is appended the position is the start, an open split included.
};

}  // namespace forebay
