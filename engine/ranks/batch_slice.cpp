#include "engine/ranks/batch_slice.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/data/batch_lists.h"

namespace forebay {
namespace {

enum class Columns : std::uint8_t { kAll, kIds };

/// Offsets of the columns of a slice, in bytes.
struct Places {
  explicit Places(const Batch& batch, bool weighted, Columns columns = Columns::kAll)
      : dense(columns == Columns::kAll ? batch.rows * sizeof(float) : 0),
        lengths(dense + batch.rows * batch.dense_features * sizeof(float)),
        ids((lengths + batch.sparse_features * batch.rows * sizeof(std::int32_t) + 7) & ~7ull),
        weights(ids + batch.num_ids * sizeof(std::int64_t)),
        groups(weights + (weighted ? batch.rows * sizeof(float) : 0)),
        has_weights(weighted),
        bytes(groups) {
    for (const BatchRepeats& group : batch.repeats) {
      bytes += (batch.rows + group.unique) * sizeof(std::uint32_t);
    }
    bytes += Buffer::kPadding;  // Vectorized readers may read past the last number.
  }

  std::size_t dense;
  std::size_t lengths;
  std::size_t ids;
  std::size_t weights;
  std::size_t groups;
  bool has_weights;
  std::size_t bytes;

  void point(Batch& batch, std::byte* data) const {
    batch.labels = reinterpret_cast<float*>(data);
    batch.dense = reinterpret_cast<float*>(data + dense);
    batch.lengths = reinterpret_cast<std::int32_t*>(data + lengths);
    batch.ids = reinterpret_cast<std::int64_t*>(data + ids);
    if (has_weights) batch.weights = reinterpret_cast<float*>(data + weights);
    const auto* numbers = reinterpret_cast<const std::uint32_t*>(data + groups);
    for (BatchRepeats& group : batch.repeats) {
      group.numbers = numbers;
      group.first_rows = numbers + batch.rows;
      numbers += batch.rows + group.unique;
    }
    batch.lists_once = !batch.repeats.empty();
  }
  void write(const std::vector<BatchRepeats>& repeats, std::size_t rows, std::byte* data) const {
    auto* numbers = reinterpret_cast<std::uint32_t*>(data + groups);
    for (const BatchRepeats& group : repeats) {
      numbers = std::copy_n(group.numbers, rows, numbers);
      numbers = std::copy_n(group.first_rows, group.unique, numbers);
    }
  }
};

template <class T>
void copy(T* to, const T* from, std::size_t count) {
  if (count > 0) std::memcpy(to, from, count * sizeof(T));
}

std::size_t ids_in(std::span<const std::int32_t> lengths) {
  return static_cast<std::size_t>(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}));
}

/// The ids of rows [first, end) of a batch, and which of those rows share lists.
class SliceIds {
 public:
  SliceIds(const Batch& batch, std::size_t first, std::size_t end) {
    const BatchLists lists(batch);
    if (batch.lists_once) cut(batch.repeats, first, end);
    for (std::size_t feature = 0; feature < lists.features(); ++feature) {
      const BatchRepeats* repeats = lists.repeats(feature);
      if (repeats == nullptr) {
        const auto lengths = lists.lengths(feature);
        runs_.push_back(lists.all_ids(feature).subspan(
            ids_in(lengths.first(first)), ids_in(lengths.subspan(first, end - first))));
        continue;
      }
      const auto ids = lists.ids(feature);
      for (const std::uint32_t row : cuts_[lists.group(feature)].first_rows()) {
        runs_.push_back(ids[repeats->numbers[first + row]]);
      }
    }
  }

  std::size_t count() const {
    return std::accumulate(runs_.begin(), runs_.end(), std::size_t{0},
                           [](std::size_t sum, const auto& run) { return sum + run.size(); });
  }
  const std::vector<BatchRepeats>& repeats() const { return repeats_; }
  void write(std::int64_t* to) const {
    for (const std::span<const std::int64_t> run : runs_) {
      copy(to, run.data(), run.size());
      to += run.size();
    }
  }

 private:
  void cut(const std::vector<BatchRepeats>& repeats, std::size_t first, std::size_t end) {
    cuts_.resize(repeats.size());
    repeats_.reserve(repeats.size());
    for (std::size_t group = 0; group < repeats.size(); ++group) {
      cuts_[group].append(repeats[group], first, end);
      repeats_.push_back(cuts_[group].of(repeats[group].features));
    }
  }

  std::vector<OwnedRepeats> cuts_;
  std::vector<BatchRepeats> repeats_;                // of cuts_
  std::vector<std::span<const std::int64_t>> runs_;  // lists, or neighbouring ones
};

/// A batch whose columns are in a received frame.
struct FramedBatch {
  Batch batch;
  Frame frame;
};

Status check(const BatchSlice& slice, const SliceLimits& limits) {
  const auto refuse = [&](const std::string& what) {
    return fail(Code::kCorrupt,
                "rank 0 sent a slice of batch " + std::to_string(slice.number) + " with " + what);
  };
  if (slice.rows > limits.rows) {
    return refuse(std::to_string(slice.rows) + " rows, above " + std::to_string(limits.rows));
  }
  if (slice.dense_features != limits.dense_features ||
      slice.sparse_features != limits.sparse_features || slice.weighted != limits.weighted) {
    return refuse("other columns");
  }
  if (slice.frames.size() != 1 || slice.num_ids > slice.frames[0].size()) {
    return refuse("fewer bytes than ids");
  }
  return {};
}

/// Takes over which features share lists; false if no batch has such groups.
bool take_groups(const std::vector<SliceGroup>& groups, Batch& batch) {
  std::vector<bool> is_in_group(batch.sparse_features, false);
  for (const SliceGroup& group : groups) {
    if (group.unique > batch.rows) return false;
    for (const std::uint64_t feature : group.features) {
      if (feature >= batch.sparse_features || is_in_group[feature]) return false;
      is_in_group[feature] = true;
    }
    batch.repeats.push_back({.features = {.sparse = {group.features.begin(), group.features.end()}},
                             .unique = group.unique});
  }
  return true;
}

bool has_sound_lists(const Batch& batch) {
  const std::span lengths(batch.lengths, batch.sparse_features * batch.rows);
  if (std::ranges::any_of(lengths, [](std::int32_t length) { return length < 0; })) return false;
  if (!are_sound(batch.repeats, batch.rows)) return false;
  const BatchLists lists(batch);
  for (std::size_t feature = 0; feature < lists.features(); ++feature) {
    if (lists.repeats(feature) == nullptr) continue;
    const auto of_rows = lengths.subspan(feature * batch.rows, batch.rows);
    const auto of_lists = lists.lengths(feature);
    for (std::size_t row = 0; row < batch.rows; ++row) {
      if (of_rows[row] != of_lists[lists.number(feature, row)]) return false;
    }
  }
  return lists.first_id(lists.features()) == batch.num_ids;
}

Result<std::shared_ptr<const Batch>> unpack(const BatchSlice& slice, Columns columns,
                                            BufferPool& pool) {
  auto framed = std::make_shared<FramedBatch>();
  Batch& batch = framed->batch;
  batch.number = slice.number;
  batch.rows = slice.rows;
  batch.dense_features = slice.dense_features;
  batch.sparse_features = slice.sparse_features;
  batch.num_ids = slice.num_ids;
  const auto corrupt = [&](const char* what) {
    return fail(Code::kCorrupt, "rank 0 sent a slice of batch " + std::to_string(batch.number) +
                                    " with " + what + " than it says");
  };
  if (!take_groups(slice.groups, batch)) return corrupt("other shared lists");
  const Places places(batch, slice.weighted, columns);
  const Frame& frame = slice.frames[0];
  if (frame.size() != places.bytes) return corrupt("another number of ids");
  // A batch's columns are not modified; Batch has no pointers to const.
  auto* data = const_cast<std::byte*>(frame.data());
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(std::int64_t) == 0) {
    framed->frame = frame;
  } else {
    batch.storage = pool.take(places.bytes);
    copy(batch.storage.data(), frame.data(), frame.size());
    data = batch.storage.data();
  }
  places.point(batch, data);
  if (!has_sound_lists(batch)) return corrupt("another number of ids");
  return std::shared_ptr<const Batch>(framed, &batch);
}

/// Which rows share lists in the ids of a batch.
std::vector<BatchRepeats> repeats_in(const Batch& batch) {
  return batch.lists_once ? batch.repeats : std::vector<BatchRepeats>();
}

/// The groups of a batch for its message.
std::vector<SliceGroup> groups_of(const Batch& batch) {
  std::vector<SliceGroup> groups;
  groups.reserve(batch.repeats.size());
  for (const BatchRepeats& group : batch.repeats) {
    const std::vector<std::size_t>& features = group.features.sparse;
    groups.push_back({{features.begin(), features.end()}, group.unique});
  }
  return groups;
}

}  // namespace

std::shared_ptr<const Batch> slice_rows(const Batch& batch, std::size_t first, std::size_t end,
                                        BufferPool& pool) {
  const SliceIds ids(batch, first, end);
  auto slice = std::make_shared<Batch>();
  slice->number = batch.number;
  slice->rows = end - first;
  slice->dense_features = batch.dense_features;
  slice->sparse_features = batch.sparse_features;
  slice->after = batch.after;
  slice->num_ids = ids.count();
  slice->repeats = ids.repeats();
  const Places places(*slice, batch.weights != nullptr);
  slice->storage = pool.take(places.bytes);
  places.point(*slice, slice->storage.data());
  copy(slice->labels, batch.labels + first, slice->rows);
  if (batch.weights != nullptr) copy(slice->weights, batch.weights + first, slice->rows);
  copy(slice->dense, batch.dense + first * batch.dense_features,
       slice->rows * batch.dense_features);
  for (std::size_t feature = 0; feature < batch.sparse_features; ++feature) {
    copy(slice->lengths + feature * slice->rows, batch.lengths + feature * batch.rows + first,
         slice->rows);
  }
  ids.write(slice->ids);
  places.write(ids.repeats(), slice->rows, slice->storage.data());
  return slice;
}

BatchSlice packed_slice(const std::shared_ptr<const Batch>& slice) {
  return {.number = slice->number,
          .rows = slice->rows,
          .dense_features = slice->dense_features,
          .sparse_features = slice->sparse_features,
          .num_ids = slice->num_ids,
          .frames = {Frame(slice, slice->storage.data(), slice->storage.size())},
          .weighted = slice->weights != nullptr,
          .groups = groups_of(*slice)};
}

std::shared_ptr<const Batch> copy_ids(const Batch& ids, BufferPool& pool) {
  auto own = std::make_shared<Batch>();
  own->number = ids.number;
  own->rows = ids.rows;
  own->sparse_features = ids.sparse_features;
  own->num_ids = ids.num_ids;
  const std::vector<BatchRepeats> repeats = repeats_in(ids);
  own->repeats = repeats;
  const Places places(*own, false, Columns::kIds);
  own->storage = pool.take(places.bytes);
  places.point(*own, own->storage.data());
  copy(own->lengths, ids.lengths, ids.sparse_features * ids.rows);
  copy(own->ids, ids.ids, ids.num_ids);
  places.write(repeats, ids.rows, own->storage.data());
  return own;
}

Result<std::shared_ptr<const Batch>> unpack_slice(const BatchSlice& slice,
                                                  const SliceLimits& limits, BufferPool& pool) {
  if (auto sound = check(slice, limits); !sound) return pass(sound);
  return unpack(slice, Columns::kAll, pool);
}

Result<std::shared_ptr<const Batch>> unpack_ids(const BatchIds& ids, std::size_t most_rows,
                                                std::size_t most_features, BufferPool& pool) {
  if (ids.rows > most_rows || ids.sparse_features > most_features || ids.frames.size() != 1 ||
      ids.num_ids > ids.frames[0].size()) {
    return fail(Code::kCorrupt, "rank 0 sent ids of batch " + std::to_string(ids.number) +
                                    " that no such batch has");
  }
  return unpack(ids, Columns::kIds, pool);
}

}  // namespace forebay
