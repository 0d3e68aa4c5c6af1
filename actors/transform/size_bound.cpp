#include "actors/transform/size_bound.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "core/base/check.h"
#include "core/data/buffer_pool.h"

namespace forebay {
namespace {

/// Bytes that a BufferPool reserves for `buffers` buffers of `bytes` in all: at most an eighth
/// more, and a page each.
std::size_t reserved(std::size_t bytes, std::size_t buffers = 1) {
  const std::size_t padded = bytes + buffers * Buffer::kPadding;
  return padded + padded / 8 + buffers * 4096;
}

}  // namespace

SizeBound::SizeBound(std::size_t rows, std::size_t decoded_bytes, std::size_t sparse_columns)
    : rows_(rows),
      decoded_ids_(decoded_bytes / sizeof(std::int64_t)),
      held_(decoded_bytes),
      peak_(decoded_bytes) {
  for (std::size_t i = 0; i < sparse_columns; ++i) sparse_.push_back({0, i});
}

std::size_t SizeBound::ids(std::span<const std::size_t> sparse) const {
  std::size_t others = 0;
  std::map<std::size_t, std::size_t> uses;  // of each decoded column
  std::size_t most_uses = 0;
  for (const std::size_t index : sparse) {
    const Lists& lists = sparse_[index];
    others += lists.others;
    if (lists.decoded) most_uses = std::max(most_uses, ++uses[*lists.decoded]);
  }
  return others + most_uses * decoded_ids_;
}

void SizeBound::hold(std::size_t bytes) {
  held_ += reserved(bytes);
  peak_ = std::max(peak_, held_);
}

void SizeBound::borrow(std::size_t bytes) { peak_ = std::max(peak_, held_ + reserved(bytes)); }

void SizeBound::hold_sparse(std::size_t index, std::size_t ids) {
  put(index, {ids, std::nullopt});
  hold(ids * sizeof(std::int64_t) + Buffer::kPadding + (rows_ + 1) * sizeof(std::int32_t));
}

void SizeBound::hold_copies(std::span<const Copy> copies, std::size_t more) {
  std::vector<std::size_t> sources;
  for (const Copy& copy : copies) sources.push_back(copy.from);
  const std::size_t total = ids(sources) + copies.size() * rows_ * more;
  const std::size_t beside = Buffer::kPadding + (rows_ + 1) * sizeof(std::int32_t);
  held_ += reserved(total * sizeof(std::int64_t) + copies.size() * beside, copies.size());
  peak_ = std::max(peak_, held_);
  for (const Copy& copy : copies) {
    Lists lists = sparse_[copy.from];
    lists.others += rows_ * more;
    put(copy.to, lists);
  }
}

void SizeBound::put(std::size_t index, Lists lists) {
  FOREBAY_CHECK(index <= sparse_.size());
  if (index == sparse_.size()) sparse_.emplace_back();
  sparse_[index] = lists;
}

void SizeBound::drop_sparse(std::size_t index) {
  sparse_.erase(sparse_.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace forebay
