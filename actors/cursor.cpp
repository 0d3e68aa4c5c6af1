#include "actors/cursor.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace forebay {
namespace {

/// Erases from `set` the run of consecutive numbers that starts at `next`; returns the first number
/// after the run.
std::uint64_t absorb(std::set<std::uint64_t>& set, std::uint64_t next) {
  while (!set.empty() && *set.begin() == next) {
    set.erase(set.begin());
    ++next;
  }
  return next;
}

}  // namespace

Cursor::Cursor(Position start, std::size_t splits_per_epoch)
    : splits_per_epoch_(splits_per_epoch),
      start_(std::move(start)),
      position_(start_),
      epoch_(start_.epoch),
      appended_(start_.split + start_.ahead.size()),
      lowest_missing_(start_.split) {
  for (const std::uint32_t distance : start_.ahead) {
    finished_ahead_.insert(start_.split + distance);
    appended_ahead_.insert(start_.split + distance);
  }
}

std::size_t Cursor::rows_to_skip(const SplitId& id) const {
  const bool is_open = id.epoch == start_.epoch && id.index == start_.open_split;
  return is_open ? start_.split_rows - skipped_ : 0;
}

void Cursor::append(const SplitId& id, const Joining& part) {
  FOREBAY_CHECK(id.epoch == epoch_);
  FOREBAY_CHECK(part.skipped <= part.rows && part.skipped <= rows_to_skip(id));
  if (line_.empty() || line_.back().is_whole) line_.push_back({.index = id.index});
  InLine& split = line_.back();
  FOREBAY_CHECK(split.index == id.index);
  skipped_ += part.skipped;
  split.rows_left += part.rows - part.skipped;
  split.rows_given += part.skipped;
  split.bad += part.bad;
  split.held_out += part.held_out;
  split.sampled += part.sampled;
  split.is_whole = part.is_last;
  begun_ = begun_ || rows_to_skip(id) == 0;
  if (!part.is_last) return;
  ++appended_;
  if (id.index == lowest_missing_) {
    lowest_missing_ = absorb(appended_ahead_, lowest_missing_ + 1);
  } else {
    appended_ahead_.insert(id.index);
  }
  finish_given_out();
}

void Cursor::give_out(std::size_t rows, const Digest& digest) {
  ++position_.batches;
  position_.rows += rows;
  position_.digest = position_.digest.then(digest);
  leave_out(rows);
}

void Cursor::leave_out(std::size_t rows) {
  while (rows > 0) {
    FOREBAY_CHECK(!line_.empty());
    InLine& front = line_.front();
    const std::size_t taken = std::min(rows, front.rows_left);
    front.rows_left -= taken;
    front.rows_given += taken;
    rows -= taken;
    finish_given_out();
  }
}

void Cursor::finish_given_out() {
  while (!line_.empty() && line_.front().rows_left == 0 && line_.front().is_whole) {
    finish(line_.front());
    line_.pop_front();
  }
}

void Cursor::finish(const InLine& split) {
  if (position_.epoch == 0) {
    position_.bad_rows += split.bad;
    position_.held_out += split.held_out;
    position_.sampled += split.sampled;
  }
  position_.left_out += split.bad + split.held_out + split.sampled;
  if (split.index == position_.split) {
    position_.split = absorb(finished_ahead_, position_.split + 1);
  } else {
    finished_ahead_.insert(split.index);
  }
  if (position_.split == splits_per_epoch_) end_epoch();
}

// Every epoch must leave out as many rows as the first epoch counted.
void Cursor::end_epoch() {
  const std::uint64_t counted = position_.counted();
  if (position_.left_out != counted && !position_.of_ranks) {
    uneven_ = {position_.left_out, counted};
  }
  ++position_.epoch;
  position_.split = 0;
  position_.left_out = 0;
}

void Cursor::start_next_epoch() {
  FOREBAY_CHECK(epoch_is_complete() && line_.empty());
  ++epoch_;
  appended_ = 0;
  appended_ahead_.clear();
  lowest_missing_ = 0;
}

Position Cursor::position() const {
  if (!begun_) return start_;
  Position now = position_;
  now.split_rows = line_.empty() ? 0 : line_.front().rows_given;
  now.open_split = now.split_rows == 0 ? now.split : line_.front().index;
  now.ahead.clear();
  for (const std::uint64_t index : finished_ahead_) {
    now.ahead.push_back(static_cast<std::uint32_t>(index - now.split));
  }
  return now;
}

}  // namespace forebay
