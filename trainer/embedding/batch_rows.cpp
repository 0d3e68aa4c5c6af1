#include "trainer/embedding/batch_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <string>

#include "core/base/random.h"
#include "trainer/spec.h"

namespace forebay {
namespace {

/// How many keys are looked up before the first of them is compared: entries lie all over the
/// memory, which is slow to come.
constexpr std::size_t kAtOnce = 32;

}  // namespace

void RowFinder::group_features(const Batch& batch, BatchRows& rows) {
  rows.repeats.assign(table_rows_.size(), -1);
  times_.resize(batch.repeats.size());
  for (std::size_t group = 0; group < batch.repeats.size(); ++group) {
    const BatchRepeats& repeats = batch.repeats[group];
    times_[group].assign(repeats.unique, 0);
    for (std::size_t row = 0; row < batch.rows; ++row) ++times_[group][repeats.numbers[row]];
    for (const std::size_t feature : repeats.features.sparse) {
      rows.repeats[feature] = static_cast<std::int32_t>(group);
    }
  }
}

Status RowFinder::measure(const Batch& batch, BatchRows& rows) {
  const std::size_t features = table_rows_.size();
  const auto refuse = [&](const std::string& what) {
    return fail(Code::kInvalid, "batch " + std::to_string(batch.number) + " " + what);
  };
  if (batch.sparse_features != features) {
    return refuse("has " + std::to_string(batch.sparse_features) + " sparse features, the model " +
                  std::to_string(features));
  }
  group_features(batch, rows);
  rows.share_starts.resize(features * rows.shares);
  sizes_.resize(features);
  for_features([&](std::size_t feature) { measure_feature(batch, feature, rows); });
  rows.first_id.assign(1, 0);
  batch_ids_.assign(1, 0);
  bool negative = false;
  for (std::size_t feature = 0; feature < features; ++feature) {
    const Sizes& sizes = sizes_[feature];
    for (std::size_t share = 0; share < rows.shares; ++share) {
      rows.share_starts[feature * rows.shares + share] += rows.first_id.back();
    }
    rows.first_id.push_back(rows.first_id.back() + sizes.kept);
    batch_ids_.push_back(batch_ids_.back() + sizes.stored);
    rows.lookups += sizes.ids;
    negative = negative || sizes.negative;
  }
  if (negative) return refuse("has a list of negative length");
  if (batch_ids_.back() != batch.num_ids) {
    return refuse("has lists of " + std::to_string(batch_ids_.back()) + " ids in all and " +
                  std::to_string(batch.num_ids) + " ids");
  }
  return {};
}

/// Counts a feature's ids; its shares start at their ids' numbers within the feature.
void RowFinder::measure_feature(const Batch& batch, std::size_t feature, BatchRows& rows) {
  const std::int32_t* lengths = batch.lengths + feature * batch.rows;
  std::int32_t least = 0;
  std::size_t ids = 0;
  for (std::size_t share = 0, row = 0; share < rows.shares; ++share) {
    rows.share_starts[feature * rows.shares + share] = ids;
    for (const std::size_t end = std::min(row + rows.share_rows, batch.rows); row < end; ++row) {
      least = std::min(least, lengths[row]);
      ids += static_cast<std::size_t>(lengths[row]);
    }
  }
  const BatchRepeats* repeats = rows.repeats_of(batch, feature);
  std::size_t kept = repeats == nullptr ? ids : 0;
  for (std::size_t i = 0; repeats != nullptr && i < repeats->unique; ++i) {
    kept += static_cast<std::size_t>(lengths[repeats->first_rows[i]]);
  }
  const bool once = repeats != nullptr && batch.lists_once;
  sizes_[feature] = {.ids = ids, .kept = kept, .stored = once ? kept : ids, .negative = least < 0};
}

/// The features that had most rows in the batch before come first, so that no member of the team is
/// left with a long one at the end.
void RowFinder::for_features(const std::function<void(std::size_t)>& body) {
  if (team_ != nullptr) {
    team_->for_each(turns_.size(), [&](std::size_t turn, std::size_t) { body(turns_[turn]); });
  } else {
    std::ranges::for_each(turns_, body);
  }
}

void RowFinder::KeySet::clear(std::size_t ids) {
  const std::size_t wanted = std::bit_ceil(std::max<std::size_t>(2 * ids, 16));
  if (wanted > capacity_) {
    entries_ = Pages(wanted * sizeof(Entry));
    capacity_ = wanted;
    stamp_ = 0;
  }
  if (++stamp_ == 0) {
    std::fill_n(entries_.as<Entry>(), capacity_, Entry{});
    stamp_ = 1;
  }
}

[[gnu::always_inline]] inline std::size_t RowFinder::KeySet::look_up(std::int64_t key) const {
  const std::size_t at = mix64(static_cast<std::uint64_t>(key)) & (capacity_ - 1);
  __builtin_prefetch(entries_.as<Entry>() + at, 1);
  return at;
}

[[gnu::always_inline]] inline std::int32_t RowFinder::KeySet::place_of(std::int64_t key,
                                                                       std::size_t at,
                                                                       std::int32_t times,
                                                                       FeatureRows& found) {
  auto* entries = entries_.as<Entry>();
  const std::size_t mask = capacity_ - 1;
  while (entries[at].stamp == stamp_ && entries[at].key != key) at = (at + 1) & mask;
  Entry& entry = entries[at];
  if (entry.stamp != stamp_) {
    entry = {key, static_cast<std::int32_t>(found.keys.size()), stamp_};
    found.keys.push_back(key);
    found.times.push_back(0);
  }
  const std::int32_t place = entry.place;
  found.times[static_cast<std::size_t>(place)] += times;
  return place;
}

void RowFinder::find_plain(const Batch& batch, std::size_t feature, KeySet& set, BatchRows& rows) {
  const std::size_t first = rows.first_id[feature];
  const std::size_t ids = rows.first_id[feature + 1] - first;
  const std::int64_t* from = batch.ids + batch_ids_[feature];
  std::int32_t* place = rows.place.data() + first;
  std::array<std::int64_t, kAtOnce> keys;
  std::array<std::size_t, kAtOnce> at;
  for (std::size_t i = 0; i < ids; i += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, ids - i);
    for (std::size_t j = 0; j < count; ++j) {
      keys[j] = fold(from[i + j], table_rows_[feature]);
      at[j] = set.look_up(keys[j]);
    }
    for (std::size_t j = 0; j < count; ++j) {
      place[i + j] = set.place_of(keys[j], at[j], 1, found_[feature]);
    }
  }
}

// The first rows of the lists ascend, so one pass over the lengths finds where their ids are, if
// the batch has the ids of all rows.
void RowFinder::find_repeated(const Batch& batch, std::size_t feature, KeySet& set,
                              BatchRows& rows) {
  const auto group = static_cast<std::size_t>(rows.repeats[feature]);
  const BatchRepeats& repeats = batch.repeats[group];
  const std::int32_t* lengths = batch.lengths + feature * batch.rows;
  const std::int64_t* ids = batch.ids + batch_ids_[feature];
  std::int32_t* place = rows.place.data() + rows.first_id[feature];
  std::size_t passed = 0;
  for (std::size_t i = 0; i < repeats.unique; ++i) {
    const std::size_t row = repeats.first_rows[i];
    for (; !batch.lists_once && passed < row; ++passed) ids += lengths[passed];
    for (std::int32_t id = 0; id < lengths[row]; ++id) {
      const std::int64_t key = fold(ids[id], table_rows_[feature]);
      *place++ = set.place_of(key, set.look_up(key), times_[group][i], found_[feature]);
    }
    if (batch.lists_once) ids += lengths[row];
  }
}

void RowFinder::find_feature(const Batch& batch, std::size_t feature, BatchRows& rows) {
  found_[feature].keys.clear();
  found_[feature].times.clear();
  KeySet& set = sets_[team_ == nullptr ? 0 : feature];
  set.clear(rows.first_id[feature + 1] - rows.first_id[feature]);
  if (rows.repeats[feature] < 0) {
    find_plain(batch, feature, set, rows);
  } else {
    find_repeated(batch, feature, set, rows);
  }
}

/// Writes the rows of all features behind one another, in the features' order.
void RowFinder::join(BatchRows& rows) {
  rows.first_row.assign(1, 0);
  for (const FeatureRows& found : found_) {
    rows.first_row.push_back(rows.first_row.back() + found.keys.size());
  }
  rows.keys.resize(rows.first_row.back());
  rows.times.resize(rows.first_row.back());
  rows.slots.resize(rows.first_row.back());
  for_features([&](std::size_t feature) {
    const auto first = static_cast<std::ptrdiff_t>(rows.first_row[feature]);
    std::ranges::copy(found_[feature].keys, rows.keys.begin() + first);
    std::ranges::copy(found_[feature].times, rows.times.begin() + first);
  });
}

Status RowFinder::find(const Batch& batch, std::size_t share_rows, BatchRows& rows) {
  rows.batch = batch.number;
  rows.source = &batch;
  rows.share_rows = share_rows;
  rows.shares = (batch.rows + share_rows - 1) / share_rows;
  rows.fetched_lookups = 0;
  rows.lookups = 0;
  if (auto status = measure(batch, rows); !status) return status;
  rows.place.resize(rows.first_id.back());
  for_features([&](std::size_t feature) { find_feature(batch, feature, rows); });
  join(rows);
  std::ranges::stable_sort(turns_, std::greater(),
                           [&](std::size_t feature) { return found_[feature].keys.size(); });
  return {};
}

}  // namespace forebay
