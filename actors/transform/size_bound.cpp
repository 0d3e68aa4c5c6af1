#include "actors/transform/size_bound.h"

#include <algorithm>
#include <cstdint>

#include "core/base/check.h"
#include "core/data/buffer_pool.h"

namespace forebay {
namespace {

/// What a BufferPool reserves for a request: at most an eighth more, and a page.
std::size_t reserved(std::size_t bytes) {
  const std::size_t padded = bytes + Buffer::kPadding;
  return padded + padded / 8 + 4096;
}

}  // namespace

SizeBound::SizeBound(std::size_t rows, std::size_t decoded_bytes, std::size_t sparse_columns)
    : rows_(rows),
      decoded_ids_(decoded_bytes / sizeof(std::int64_t)),
      held_(decoded_bytes),
      peak_(decoded_bytes),
      sparse_(sparse_columns, Lists{decoded_ids_, true}) {}

std::size_t SizeBound::ids(std::span<const std::size_t> sparse) const {
  std::size_t own = 0;
  std::size_t decoded = 0;
  std::size_t repeats = 1;  // a column may be named twice, and counts twice then
  for (const std::size_t index : sparse) {
    (sparse_[index].decoded ? decoded : own) += sparse_[index].ids;
    const auto times = std::count(sparse.begin(), sparse.end(), index);
    repeats = std::max(repeats, static_cast<std::size_t>(times));
  }
  return own + std::min(decoded, repeats * decoded_ids_);
}

void SizeBound::hold(std::size_t bytes) {
  held_ += reserved(bytes);
  peak_ = std::max(peak_, held_);
}

void SizeBound::borrow(std::size_t bytes) { peak_ = std::max(peak_, held_ + reserved(bytes)); }

void SizeBound::hold_sparse(std::size_t index, std::size_t ids) {
  FOREBAY_CHECK(index <= sparse_.size());
  if (index == sparse_.size()) sparse_.emplace_back();
  sparse_[index] = Lists{ids, false};
  hold(ids * sizeof(std::int64_t) + Buffer::kPadding + (rows_ + 1) * sizeof(std::int32_t));
}

void SizeBound::drop_sparse(std::size_t index) {
  sparse_.erase(sparse_.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace forebay
