#include "trainer/torch/device/staged_batch.h"

#include <algorithm>

#include "trainer/torch/extent.h"

namespace forebay {
namespace {

constexpr std::int64_t kAligned = 64;

/// Allocates memory from the front of `bytes`.
class Sections {
 public:
  /// `bytes` may be undefined if only the total size is wanted.
  explicit Sections(const at::Tensor& bytes) : bytes_(bytes) {}

  at::Tensor next(at::ScalarType type, std::initializer_list<std::int64_t> shape) {
    std::int64_t size = 4;  // Of a value of either type.
    for (const std::int64_t extent : shape) size *= extent;
    const std::int64_t at = end_;
    end_ += (size + kAligned - 1) / kAligned * kAligned;
    if (!bytes_.defined()) return {};
    return bytes_.narrow(0, at, size).view(type).view(shape);
  }
  std::int64_t end() const { return end_; }

 private:
  const at::Tensor bytes_;
  std::int64_t end_ = 0;
};

StagedBatch lay_out(Sections& sections, const StagedExtents& extents) {
  StagedBatch batch;
  batch.dense = sections.next(at::kFloat, {extents.rows, extents.dense});
  batch.labels = sections.next(at::kFloat, {extents.rows});
  batch.lengths = sections.next(at::kInt, {extents.sparse * extents.rows});
  batch.bags = sections.next(at::kInt, {extents.ids});
  batch.places = sections.next(at::kInt, {extents.ids});
  batch.slots = sections.next(at::kInt, {extents.touched});
  batch.fetched_slots = sections.next(at::kInt, {extents.fetched});
  batch.fetched = sections.next(at::kFloat, {extents.fetched, extents.row_size});
  return batch;
}

}  // namespace

std::int64_t staged_bytes(const StagedExtents& extents) {
  Sections sections{at::Tensor()};
  lay_out(sections, extents);
  return sections.end();
}

StagedBatch staged_in(const at::Tensor& bytes, const StagedExtents& extents) {
  Sections sections(bytes);
  return lay_out(sections, extents);
}

StagedExtents extents_of(const Batch& batch, const BatchRows& rows) {
  return {.rows = static_cast<std::int64_t>(batch.rows),
          .dense = static_cast<std::int64_t>(batch.dense_features),
          .sparse = static_cast<std::int64_t>(batch.sparse_features),
          .ids = static_cast<std::int64_t>(batch.num_ids),
          .touched = static_cast<std::int64_t>(rows.num_rows())};
}

void write_staged(const Batch& batch, const BatchRows& rows, const StagedBatch& to) {
  const std::size_t lists = batch.sparse_features * batch.rows;
  std::copy_n(batch.dense, batch.rows * batch.dense_features, values_of<float>(to.dense).begin());
  std::copy_n(batch.labels, batch.rows, values_of<float>(to.labels).begin());
  std::copy_n(batch.lengths, lists, values_of<std::int32_t>(to.lengths).begin());
  const std::span<std::int32_t> bags = values_of<std::int32_t>(to.bags);
  std::size_t id = 0;
  for (std::size_t bag = 0; bag < lists; ++bag) {
    const auto length = static_cast<std::size_t>(batch.lengths[bag]);
    std::fill_n(bags.begin() + static_cast<std::ptrdiff_t>(id), length,
                static_cast<std::int32_t>(bag));
    id += length;
  }
  const std::span<std::int32_t> places = values_of<std::int32_t>(to.places);
  for (std::size_t feature = 0; feature < rows.features(); ++feature) {
    const auto first = static_cast<std::int32_t>(rows.first_row[feature]);
    for (id = rows.first_id[feature]; id < rows.first_id[feature + 1]; ++id) {
      places[id] = first + rows.place[id];
    }
  }
}

}  // namespace forebay
