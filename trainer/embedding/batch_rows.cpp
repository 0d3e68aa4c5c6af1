#include "trainer/embedding/batch_rows.h"

#include <algorithm>
#include <bit>
#include <string>

#include "core/base/random.h"
#include "trainer/spec.h"

namespace forebay {

Status RowFinder::measure(const Batch& batch, BatchRows& rows) const {
  const std::size_t features = table_rows_.size();
  const auto refuse = [&](const std::string& what) {
    return fail(Code::kInvalid, "batch " + std::to_string(batch.number) + " " + what);
  };
  if (batch.sparse_features != features) {
    return refuse("has " + std::to_string(batch.sparse_features) + " sparse features, the model " +
                  std::to_string(features));
  }
  rows.share_starts.resize(features * rows.shares);
  rows.first_id.assign(1, 0);
  std::size_t id = 0;
  for (std::size_t feature = 0; feature < features; ++feature) {
    const std::int32_t* lengths = batch.lengths + feature * batch.rows;
    for (std::size_t row = 0; row < batch.rows; ++row) {
      if (row % rows.share_rows == 0) {
        rows.share_starts[feature * rows.shares + row / rows.share_rows] = id;
      }
      if (lengths[row] < 0) return refuse("has a list of negative length");
      id += static_cast<std::size_t>(lengths[row]);
    }
    rows.first_id.push_back(id);
  }
  if (id != batch.num_ids) {
    return refuse("has lists of " + std::to_string(id) + " ids in all and " +
                  std::to_string(batch.num_ids) + " ids");
  }
  return {};
}

void RowFinder::clear(std::size_t ids) {
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

void RowFinder::find_feature(const Batch& batch, std::size_t feature, BatchRows& rows) {
  const std::size_t first = rows.first_id[feature];
  const std::size_t end = rows.first_id[feature + 1];
  clear(end - first);
  auto* entries = entries_.as<Entry>();
  const std::size_t mask = capacity_ - 1;
  const std::int64_t table_rows = table_rows_[feature];
  const std::size_t first_row = rows.keys.size();
  for (std::size_t id = first; id < end; ++id) {
    const std::int64_t key = fold(batch.ids[id], table_rows);
    std::size_t at = mix64(static_cast<std::uint64_t>(key)) & mask;
    while (entries[at].stamp == stamp_ && entries[at].key != key) at = (at + 1) & mask;
    Entry& entry = entries[at];
    if (entry.stamp != stamp_) {
      entry = {key, static_cast<std::int32_t>(rows.keys.size() - first_row), stamp_};
      rows.keys.push_back(key);
      rows.times.push_back(0);
    }
    rows.place[id] = entry.place;
    ++rows.times[first_row + static_cast<std::size_t>(entry.place)];
  }
  rows.first_row.push_back(rows.keys.size());
}

Status RowFinder::find(const Batch& batch, std::size_t share_rows, BatchRows& rows) {
  rows.batch = batch.number;
  rows.source = &batch;
  rows.share_rows = share_rows;
  rows.shares = (batch.rows + share_rows - 1) / share_rows;
  rows.fetched_lookups = 0;
  rows.place.resize(batch.num_ids);
  rows.first_row.assign(1, 0);
  rows.keys.clear();
  rows.times.clear();
  if (auto status = measure(batch, rows); !status) return status;
  for (std::size_t feature = 0; feature < table_rows_.size(); ++feature) {
    find_feature(batch, feature, rows);
  }
  rows.slots.resize(rows.keys.size());
  return {};
}

}  // namespace forebay
