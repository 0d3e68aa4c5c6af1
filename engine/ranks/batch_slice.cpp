#include "engine/ranks/batch_slice.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <string>

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
        has_weights(weighted),
        // Vectorized readers may read past the last number.
        bytes(weights + (weighted ? batch.rows * sizeof(float) : 0) + Buffer::kPadding) {}

  std::size_t dense;
  std::size_t lengths;
  std::size_t ids;
  std::size_t weights;
  bool has_weights;
  std::size_t bytes;

  void point(Batch& batch, std::byte* data) const {
    batch.labels = reinterpret_cast<float*>(data);
    batch.dense = reinterpret_cast<float*>(data + dense);
    batch.lengths = reinterpret_cast<std::int32_t*>(data + lengths);
    batch.ids = reinterpret_cast<std::int64_t*>(data + ids);
    if (has_weights) batch.weights = reinterpret_cast<float*>(data + weights);
  }
};

template <class T>
void copy(T* to, const T* from, std::size_t count) {
  if (count > 0) std::memcpy(to, from, count * sizeof(T));
}

std::size_t ids_in(const std::int32_t* lengths, std::size_t count) {
  return static_cast<std::size_t>(std::accumulate(lengths, lengths + count, std::int64_t{0}));
}

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

Result<std::shared_ptr<const Batch>> unpack(const BatchSlice& slice, Columns columns,
                                            BufferPool& pool) {
  auto framed = std::make_shared<FramedBatch>();
  Batch& batch = framed->batch;
  batch.number = slice.number;
  batch.rows = slice.rows;
  batch.dense_features = slice.dense_features;
  batch.sparse_features = slice.sparse_features;
  batch.num_ids = slice.num_ids;
  const Places places(batch, slice.weighted, columns);
  const Frame& frame = slice.frames[0];
  const auto corrupt = [&] {
    return fail(Code::kCorrupt, "rank 0 sent a slice of batch " + std::to_string(batch.number) +
                                    " with another number of ids than it says");
  };
  if (frame.size() != places.bytes) return corrupt();
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
  const std::span lengths(batch.lengths, batch.sparse_features * batch.rows);
  const bool sane = std::ranges::all_of(lengths, [](std::int32_t length) { return length >= 0; });
  if (!sane || ids_in(lengths.data(), lengths.size()) != batch.num_ids) return corrupt();
  return std::shared_ptr<const Batch>(framed, &batch);
}

}  // namespace

std::shared_ptr<const Batch> slice_rows(const Batch& batch, std::size_t first, std::size_t end,
                                        BufferPool& pool) {
  auto slice = std::make_shared<Batch>();
  slice->number = batch.number;
  slice->rows = end - first;
  slice->dense_features = batch.dense_features;
  slice->sparse_features = batch.sparse_features;
  slice->after = batch.after;
  for (std::size_t feature = 0; feature < batch.sparse_features; ++feature) {
    slice->num_ids += ids_in(batch.lengths + feature * batch.rows + first, slice->rows);
  }
  const Places places(*slice, batch.weights != nullptr);
  slice->storage = pool.take(places.bytes);
  places.point(*slice, slice->storage.data());
  copy(slice->labels, batch.labels + first, slice->rows);
  if (batch.weights != nullptr) copy(slice->weights, batch.weights + first, slice->rows);
  copy(slice->dense, batch.dense + first * batch.dense_features,
       slice->rows * batch.dense_features);
  const std::int64_t* ids = batch.ids;
  std::int64_t* to = slice->ids;
  for (std::size_t feature = 0; feature < batch.sparse_features; ++feature) {
    const std::int32_t* lengths = batch.lengths + feature * batch.rows;
    copy(slice->lengths + feature * slice->rows, lengths + first, slice->rows);
    ids += ids_in(lengths, first);
    const std::size_t count = ids_in(lengths + first, slice->rows);
    copy(to, ids, count);
    to += count;
    ids += count + ids_in(lengths + end, batch.rows - end);
  }
  return slice;
}

BatchSlice packed_slice(const std::shared_ptr<const Batch>& slice) {
  return {.number = slice->number,
          .rows = slice->rows,
          .dense_features = slice->dense_features,
          .sparse_features = slice->sparse_features,
          .num_ids = slice->num_ids,
          .frames = {Frame(slice, slice->storage.data(), slice->storage.size())},
          .weighted = slice->weights != nullptr};
}

std::shared_ptr<const Batch> copy_ids(const Batch& ids, BufferPool& pool) {
  auto own = std::make_shared<Batch>();
  own->number = ids.number;
  own->rows = ids.rows;
  own->sparse_features = ids.sparse_features;
  own->num_ids = ids.num_ids;
  const Places places(*own, false, Columns::kIds);
  own->storage = pool.take(places.bytes);
  places.point(*own, own->storage.data());
  copy(own->lengths, ids.lengths, ids.sparse_features * ids.rows);
  copy(own->ids, ids.ids, ids.num_ids);
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
