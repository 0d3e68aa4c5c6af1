#include "tools/ranks/batch_slice.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <string>

namespace forebay {
namespace {

/// Where the columns of a slice begin, in bytes.
struct Places {
  explicit Places(const Batch& batch)
      : dense(batch.rows * sizeof(float)),
        lengths(dense + batch.rows * batch.dense_features * sizeof(float)),
        ids((lengths + batch.sparse_features * batch.rows * sizeof(std::int32_t) + 7) & ~7ull),
        // What reads vectors of numbers may read past the last one.
        bytes(ids + batch.num_ids * sizeof(std::int64_t) + Buffer::kPadding) {}

  std::size_t dense;
  std::size_t lengths;
  std::size_t ids;
  std::size_t bytes;

  void point(Batch& batch, std::byte* data) const {
    batch.labels = reinterpret_cast<float*>(data);
    batch.dense = reinterpret_cast<float*>(data + dense);
    batch.lengths = reinterpret_cast<std::int32_t*>(data + lengths);
    batch.ids = reinterpret_cast<std::int64_t*>(data + ids);
  }
};

template <class T>
void copy(T* to, const T* from, std::size_t count) {
  if (count > 0) std::memcpy(to, from, count * sizeof(T));
}

std::size_t ids_in(const std::int32_t* lengths, std::size_t count) {
  return static_cast<std::size_t>(std::accumulate(lengths, lengths + count, std::int64_t{0}));
}

/// A batch over memory that came in a frame.
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
      slice.sparse_features != limits.sparse_features) {
    return refuse("other columns");
  }
  if (slice.frames.size() != 1 || slice.num_ids > slice.frames[0].size()) {
    return refuse("fewer bytes than ids");
  }
  return {};
}

}  // namespace

std::pair<std::size_t, std::size_t> rows_of_rank(std::size_t rows, int rank, int ranks) {
  const auto part = static_cast<std::size_t>(rank);
  const auto parts = static_cast<std::size_t>(ranks);
  return {rows * part / parts, rows * (part + 1) / parts};
}

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
  const Places places(*slice);
  slice->storage = pool.take(places.bytes);
  places.point(*slice, slice->storage.data());
  copy(slice->labels, batch.labels + first, slice->rows);
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
          .frames = {Frame(slice, slice->storage.data(), slice->storage.size())}};
}

Result<std::shared_ptr<const Batch>> unpack_slice(const BatchSlice& slice,
                                                  const SliceLimits& limits, BufferPool& pool) {
  if (auto sound = check(slice, limits); !sound) return pass(sound);
  auto framed = std::make_shared<FramedBatch>();
  Batch& batch = framed->batch;
  batch.number = slice.number;
  batch.rows = slice.rows;
  batch.dense_features = slice.dense_features;
  batch.sparse_features = slice.sparse_features;
  batch.num_ids = slice.num_ids;
  const Places places(batch);
  const Frame& frame = slice.frames[0];
  const auto corrupt = [&] {
    return fail(Code::kCorrupt, "rank 0 sent a slice of batch " + std::to_string(slice.number) +
                                    " whose ids are not as many as it says");
  };
  if (frame.size() != places.bytes) return corrupt();
  // Batches are immutable; their type is not.
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

}  // namespace forebay
