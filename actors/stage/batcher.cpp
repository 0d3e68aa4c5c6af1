#include "actors/stage/batcher.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "actors/stage/set_columns.h"
#include "core/base/check.h"
#include "core/data/buffer_pool.h"

namespace forebay {
namespace {

/// The bytes from which a batch is worth waking other threads.
constexpr std::size_t kTeamBytes = 1 << 20;

/// Writes which rows share their values.
BatchRepeats index_of(const RepeatedRows& rows, const FeatureGroup& features, SlabCarver& carver) {
  auto* numbers = carver.take<std::uint32_t>(rows.numbers().size());
  auto* first_rows = carver.take<std::uint32_t>(rows.unique());
  std::ranges::copy(rows.numbers(), numbers);
  std::ranges::copy(rows.first_rows(), first_rows);
  return {
      .features = features, .unique = rows.unique(), .numbers = numbers, .first_rows = first_rows};
}

}  // namespace

Batcher::Batcher(std::size_t batch_size, BufferPool& pool, std::size_t lanes, RankedBatches ranked)
    : batch_size_(batch_size),
      pool_(pool),
      ranked_(std::move(ranked)),
      sparse_(places_in_groups(ranked_.columns.repeated, &FeatureGroup::sparse,
                               ranked_.columns.sparse.size())),
      lanes_(lanes) {
  FOREBAY_CHECK(std::has_single_bit(lanes) && batch_size % lanes == 0);
}

// The rows were dealt in turn and ended with the lane whose turn is last, since a batch was full:
// that lane had the first of them if there are fewer than lanes.
void Batcher::skip(std::size_t rows) {
  FOREBAY_CHECK(sets_.empty());
  for (std::size_t turn = 0; turn < lanes_.size(); ++turn) {
    lanes_[lane_in_turn(turn, lanes_.size())].to_skip = (rows + turn) / lanes_.size();
  }
  turn_ = (lanes_.size() - rows % lanes_.size()) % lanes_.size();
}

std::size_t Batcher::add(ColumnSet columns) {
  const std::size_t rows = columns.rows;
  return add_rows(std::move(columns), rows, nullptr);
}

std::size_t Batcher::add(ColumnSet columns, const PartialRows& part) {
  return add_rows(std::move(columns), part.all, &part);
}

// Without `part` the set has all rows.
std::size_t Batcher::add_rows(ColumnSet columns, std::size_t rows, const PartialRows* part) {
  const std::size_t each = rows / lanes_.size();
  Set& set = sets_.emplace_back(Set{std::move(columns), rows});
  const auto put_rows = [&](std::size_t lane, const RowRange& range) {
    const auto at = part != nullptr ? part->place_of(range) : std::optional(range.begin);
    const std::size_t begin = at.value_or(0);
    put(lanes_[lane], {&set, at ? &set.columns : nullptr, begin, begin + range.size()});
  };
  for (std::size_t i = 0; i < lanes_.size(); ++i) put_rows(i, {i * each, (i + 1) * each});
  for (std::size_t row = each * lanes_.size(); row < rows; ++row) {
    put_rows(lane_in_turn(turn_, lanes_.size()), {row, row + 1});
    turn_ = (turn_ + 1) % lanes_.size();
  }
  const std::size_t left = set.rows_left;
  rows_ += left;
  if (left == 0) sets_.pop_back();
  return rows - left;
}

void Batcher::put(Lane& lane, Slice slice) {
  const std::size_t skipped = std::min(lane.to_skip, slice.rows());
  lane.to_skip -= skipped;
  slice.begin += skipped;
  slice.set->rows_left -= skipped;
  if (slice.rows() > 0) lane.slices.push_back(slice);
}

/// Takes at most `rows` rows; returns how many.
std::size_t Batcher::take(Lane& lane, std::size_t rows, std::vector<Slice>& taken) {
  std::size_t left = rows;
  while (left > 0 && !lane.slices.empty()) {
    Slice& front = lane.slices.front();
    Slice slice = front;
    slice.end = std::min(slice.end, slice.begin + left);
    left -= slice.rows();
    front.begin = slice.end;
    if (front.rows() == 0) lane.slices.pop_front();
    taken.push_back(slice);
  }
  return rows - left;
}

Batcher::Taken Batcher::take_batch() {
  Taken taken;
  taken.borders.push_back(0);
  for (Lane& lane : lanes_) {
    const std::size_t rows = take(lane, batch_size_ / lanes_.size(), taken.slices);
    taken.borders.push_back(taken.borders.back() + rows);
    rows_ -= rows;
  }
  if (rows_ == 0) turn_ = 0;
  return taken;
}

// The lanes of an epoch's last batch may differ by a row.
RowRange Batcher::share_of(const Taken& taken) const {
  const RankShare& share = ranked_.share;
  if (lanes_.size() % share.ranks != 0) return share.of(taken.borders.back());
  const RowRange lanes = share.of(lanes_.size());
  return {taken.borders[lanes.begin], taken.borders[lanes.end]};
}

std::vector<Batcher::Slice> Batcher::within(const std::vector<Slice>& slices,
                                            const RowRange& rows) {
  std::vector<Slice> inside;
  std::size_t at = 0;
  for (Slice slice : slices) {
    const RowRange here{at, at + slice.rows()};
    at = here.end;
    if (!here.meets(rows)) continue;
    FOREBAY_CHECK(slice.columns != nullptr);
    slice.end -= here.end - std::min(here.end, rows.end);
    slice.begin += std::max(here.begin, rows.begin) - here.begin;
    inside.push_back(slice);
  }
  return inside;
}

Batch Batcher::empty_batch() const {
  Batch batch;
  batch.dense_features = ranked_.columns.dense.size();
  batch.sparse_features = ranked_.columns.sparse.size();
  batch.extra_columns = ranked_.columns.extra.size();
  return batch;
}

Batch Batcher::cut() {
  const Taken taken = take_batch();
  std::vector<Slice> clipped;
  if (!ranked_.share.is_all()) clipped = within(taken.slices, share_of(taken));
  const std::vector<Slice>& parts = ranked_.share.is_all() ? taken.slices : clipped;
  const std::vector<RepeatedRows> repeated = repeated_in(parts);
  Batch batch = empty_batch();
  if (!parts.empty()) {
    const std::vector<std::size_t> first_ids = first_ids_of(parts, repeated);
    batch = room_for(parts, repeated, first_ids.back());
    fill(parts, repeated, first_ids, batch);
  }
  batch.whole_rows = taken.borders.back();
  release(taken.slices);
  return batch;
}

/// Where the ids of each sparse feature begin in a batch of these rows, and where the last ones
/// end.
std::vector<std::size_t> Batcher::first_ids_of(const std::vector<Slice>& parts,
                                               const std::vector<RepeatedRows>& repeated) const {
  std::vector<std::size_t> first_ids = {0};
  const std::size_t features = SetColumns(*parts.front().columns).num_sparse();
  for (std::size_t feature = 0; feature < features; ++feature) {
    first_ids.push_back(first_ids.back() + ids_of(parts, repeated, feature));
  }
  return first_ids;
}

void Batcher::fill(const std::vector<Slice>& parts, const std::vector<RepeatedRows>& repeated,
                   const std::vector<std::size_t>& first_ids, Batch& batch) const {
  // The lists of each feature are a piece of the work, and all else is the first one.
  const auto fill_piece = [&](std::size_t piece, std::size_t) {
    if (piece > 0) {
      return fill_feature(piece - 1, parts, repeated, first_ids[piece - 1], batch);
    }
    fill_labels(parts, batch);
    fill_dense(parts, repeated, batch);
    fill_rest(parts, batch);
  };
  const std::size_t pieces = 1 + batch.sparse_features;
  if (team_ != nullptr && batch.bytes() >= kTeamBytes) return team_->for_each(pieces, fill_piece);
  for (std::size_t piece = 0; piece < pieces; ++piece) fill_piece(piece, 0);
}

void Batcher::fill_labels(const std::vector<Slice>& parts, Batch& batch) {
  float* labels = batch.labels;
  for (const Slice& part : parts) {
    SetColumns(*part.columns).copy_labels(part.begin, part.end, labels);
    labels += part.rows();
  }
}

std::vector<RepeatedRows> Batcher::repeated_in(const std::vector<Slice>& parts) const {
  std::vector<RepeatedRows> repeated;
  const std::vector<FeatureGroup>& groups = ranked_.columns.repeated;
  if (groups.empty() || parts.empty()) return repeated;
  std::vector<RowSlice> slices;
  slices.reserve(parts.size());
  for (const Slice& part : parts) slices.push_back({part.columns, part.begin, part.end});
  for (std::size_t group = 0; group < groups.size(); ++group) {
    repeated.emplace_back(slices, group, groups[group]);
  }
  return repeated;
}

void Batcher::fill_dense(const std::vector<Slice>& parts, const std::vector<RepeatedRows>& repeated,
                         Batch& batch) const {
  float* dense = batch.dense;
  for (const Slice& part : parts) {
    SetColumns(*part.columns).copy_dense(part.begin, part.end, dense);
    dense += part.rows() * batch.dense_features;
  }
  for (std::size_t group = 0; group < repeated.size(); ++group) {
    const std::vector<std::size_t>& features = ranked_.columns.repeated[group].dense;
    for (std::size_t i = 0; i < features.size(); ++i) {
      repeated[group].write_dense(i, batch.dense_features, batch.dense + features[i]);
    }
  }
}

void Batcher::fill_feature(std::size_t feature, const std::vector<Slice>& parts,
                           const std::vector<RepeatedRows>& repeated, std::size_t first_id,
                           Batch& batch) const {
  std::int64_t* ids = batch.ids + first_id;
  std::int32_t* lengths = batch.lengths + feature * batch.rows;
  if (is_repeated(feature)) {
    const PlaceInGroup& place = *sparse_[feature];
    const RepeatedRows& rows = repeated[place.group];
    rows.write_lengths(place.column, lengths);
    return batch.lists_once ? rows.write_unique_ids(place.column, ids)
                            : rows.write_ids(place.column, ids);
  }
  for (const Slice& part : parts) {
    const SetColumns columns(*part.columns);
    const std::size_t begin = columns.first_id(feature, part.begin);
    const std::size_t count = columns.first_id(feature, part.end) - begin;
    columns.copy_ids(feature, begin, count, ids);
    columns.copy_lengths(feature, part.begin, part.end, lengths);
    ids += count;
    lengths += part.rows();
  }
}

void Batcher::fill_rest(const std::vector<Slice>& parts, Batch& batch) {
  float* weights = batch.weights;
  std::int64_t* extras = batch.extras;
  for (const Slice& part : parts) {
    if (weights == nullptr) break;
    SetColumns(*part.columns).copy_weights(part.begin, part.end, weights);
    weights += part.rows();
  }
  for (std::size_t extra = 0; extra < batch.extra_columns; ++extra) {
    for (const Slice& part : parts) {
      SetColumns(*part.columns).copy_extra(extra, part.begin, part.end, extras);
      extras += part.rows();
    }
  }
}

std::size_t Batcher::ids_of(const std::vector<Slice>& parts,
                            const std::vector<RepeatedRows>& repeated, std::size_t feature) const {
  if (is_repeated(feature)) {
    const PlaceInGroup& place = *sparse_[feature];
    const RepeatedRows& rows = repeated[place.group];
    return ranked_.lists_once ? rows.unique_ids(place.column) : rows.num_ids(place.column);
  }
  std::size_t ids = 0;
  for (const Slice& part : parts) {
    const SetColumns columns(*part.columns);
    ids += columns.first_id(feature, part.end) - columns.first_id(feature, part.begin);
  }
  return ids;
}

Batch Batcher::room_for(const std::vector<Slice>& parts, const std::vector<RepeatedRows>& repeated,
                        std::size_t num_ids) {
  using Carve = SlabCarver;
  Batch batch;
  const SetColumns columns(*parts.front().columns);
  batch.dense_features = columns.num_dense();
  batch.sparse_features = columns.num_sparse();
  for (const Slice& part : parts) batch.rows += part.rows();
  batch.num_ids = num_ids;
  batch.lists_once = ranked_.lists_once && !repeated.empty();
  std::size_t index_bytes = 0;
  for (const RepeatedRows& group : repeated) {
    index_bytes +=
        Carve::aligned<std::uint32_t>(batch.rows) + Carve::aligned<std::uint32_t>(group.unique());
  }
  const bool weighted = columns.has_weights();
  batch.extra_columns = columns.num_extras();
  const std::size_t extra_values = batch.rows * batch.extra_columns;
  const std::size_t dense_values = batch.rows * batch.dense_features;
  const std::size_t lists = batch.rows * batch.sparse_features;
  batch.storage =
      pool_.take(Carve::aligned<float>(batch.rows) + Carve::aligned<float>(dense_values) +
                 Carve::aligned<std::int32_t>(lists) + Carve::aligned<std::int64_t>(batch.num_ids) +
                 (weighted ? Carve::aligned<float>(batch.rows) : 0) +
                 (extra_values > 0 ? Carve::aligned<std::int64_t>(extra_values) : 0) + index_bytes);
  Carve carver(batch.storage.data());
  batch.labels = carver.take<float>(batch.rows);
  batch.dense = carver.take<float>(dense_values);
  batch.lengths = carver.take<std::int32_t>(lists);
  batch.ids = carver.take<std::int64_t>(batch.num_ids);
  if (weighted) batch.weights = carver.take<float>(batch.rows);
  if (extra_values > 0) batch.extras = carver.take<std::int64_t>(extra_values);
  for (std::size_t group = 0; group < repeated.size(); ++group) {
    batch.repeats.push_back(index_of(repeated[group], ranked_.columns.repeated[group], carver));
  }
  return batch;
}

void Batcher::release(const std::vector<Slice>& parts) {
  for (const Slice& part : parts) part.set->rows_left -= part.rows();
  while (!sets_.empty() && sets_.front().rows_left == 0) sets_.pop_front();
}

std::size_t Batcher::drop() {
  for (Lane& lane : lanes_) lane.slices.clear();
  sets_.clear();
  turn_ = 0;
  return std::exchange(rows_, 0);
}

}  // namespace forebay
