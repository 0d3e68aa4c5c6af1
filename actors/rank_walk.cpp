#include "actors/rank_walk.h"

#include <algorithm>
#include <utility>

namespace forebay {
namespace {

/// The rows of its epoch before the first split of a run that begins at `start`.
std::uint64_t rows_before(const RankWalk::Job& job, const Position& start) {
  const std::uint64_t each = rows_given(job.counts.total(), job.batch_size, job.drop_last);
  return start.rows - start.epoch * each - start.split_rows;
}

}  // namespace

std::uint64_t rows_given(std::uint64_t remaining, std::uint64_t batch_size, bool drop_last) {
  return drop_last ? remaining - remaining % batch_size : remaining;
}

RankWalk::RankWalk(const Job& job, const Position& start)
    : job_(job),
      lanes_(job.order.lanes(job.batch_size)),
      batches_(
          (rows_given(job.counts.total(), job.batch_size, job.drop_last) + job.batch_size - 1) /
          job.batch_size),
      whole_(rows_given(job.counts.total(), job.batch_size, true)),
      next_row_(rows_before(job, start)) {}

std::shared_ptr<const SplitShare> RankWalk::share_of(const SplitId& split) const {
  const auto numbers = job_.order.block_numbers(split.epoch, split.index);
  auto share = std::make_shared<SplitShare>();
  share->block_rows.reserve(numbers.size());
  for (const std::size_t number : numbers) {
    share->block_rows.push_back(job_.counts.of(number));
    share->rows += share->block_rows.back();
  }
  share->first_row = split.index == 0 ? 0 : next_row_;
  share->lanes = lanes_;
  share->needed = needed_lanes(share->first_row, share->rows);
  return share;
}

// Ranks that do not share the lanes evenly have a run of rows, and the lanes of an epoch's last
// batch need not have equally many: for the splits of that batch they take all.
RowRange RankWalk::needed_lanes(std::uint64_t first_row, std::uint64_t rows) const {
  const RankShare& share = job_.share;
  if (rows == 0) return {};
  if (lanes_ == 1) return {0, has_rows_of_share(first_row, first_row + rows) ? 1U : 0U};
  const bool in_last = !job_.drop_last && first_row + rows > whole_;
  if (in_last && lanes_ % share.ranks != 0) return {0, lanes_};
  const std::size_t end = (lanes_ * (share.rank + std::size_t{1}) + share.ranks - 1) / share.ranks;
  return {lanes_ * share.rank / share.ranks, end};
}

bool RankWalk::has_rows_of_share(std::uint64_t first, std::uint64_t end) const {
  const RowRange mine = job_.share.of(job_.batch_size);
  const std::uint64_t end_in_whole = std::min(end, whole_);
  // The first batch whose share ends behind the first row.
  const std::uint64_t batch = first < mine.end ? 0 : (first - mine.end) / job_.batch_size + 1;
  if (mine.size() > 0 && batch * job_.batch_size + mine.begin < end_in_whole) return true;
  if (job_.drop_last || end <= whole_) return false;
  const RowRange last = job_.share.of(job_.counts.total() - whole_);
  return RowRange{first, end}.meets({whole_ + last.begin, whole_ + last.end});
}

}  // namespace forebay
