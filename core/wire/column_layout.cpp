#include "core/wire/column_layout.h"

#include <string>
#include <utility>

#include "core/data/digest.h"

namespace forebay {
namespace {

bool is_sound(IdWidth width) {
  return width == IdWidth::k1 || width == IdWidth::k2 || width == IdWidth::k4 ||
         width == IdWidth::k8;
}

bool is_sound(const IdsLayout& ids, std::uint64_t rows) {
  if (!is_sound(ids.width) || ids.count > ColumnLayout::kMost) return false;
  const unsigned bytes = ids.length_bytes;
  if (bytes == 1 || bytes == 2 || bytes == 4) return true;
  // Both factors are below 2^32, so the product cannot overflow.
  return bytes == 0 && ids.each <= ColumnLayout::kMost && rows * ids.each == ids.count;
}

}  // namespace

std::uint64_t ColumnLayout::checksum_of(std::span<const std::byte> data) {
  return Digest::of(data.data(), data.size()).low;
}

ColumnLocations ColumnLocations::of(const ColumnLayout& layout) {
  ColumnLocations places;
  const auto next = [&end = places.bytes](std::size_t size) {
    constexpr std::size_t kStep = ColumnLayout::kAlignment;
    return std::exchange(end, (end + size + kStep - 1) / kStep * kStep);
  };
  places.labels = next(layout.labels ? layout.rows : 0);
  places.dense.reserve(layout.dense);
  for (std::uint32_t i = 0; i < layout.dense; ++i) {
    places.dense.push_back(next(layout.rows * sizeof(float)));
  }
  places.sparse.reserve(layout.sparse.size());
  for (const IdsLayout& ids : layout.sparse) {
    const std::size_t lengths = next(layout.rows * ids.length_bytes);
    const std::size_t values = next(ids.count * static_cast<std::size_t>(ids.width));
    places.sparse.push_back({lengths, values});
  }
  places.weights = next(layout.weights ? layout.rows * sizeof(float) : 0);
  places.extras.reserve(layout.extras);
  for (std::uint32_t i = 0; i < layout.extras; ++i) {
    places.extras.push_back(next(layout.rows * sizeof(std::int64_t)));
  }
  places.groups.reserve(layout.groups);
  for (std::uint32_t i = 0; i < layout.groups; ++i) {
    places.groups.push_back(next(layout.rows * sizeof(std::uint32_t)));
  }
  return places;
}

Status check(const ColumnLayout& layout) {
  if (layout.version != ColumnLayout::kVersion) {
    return fail(Code::kCorrupt,
                "columns of another version of the format: " + std::to_string(layout.version));
  }
  if (layout.rows > ColumnLayout::kMost) {
    return fail(Code::kCorrupt, "columns of too many rows: " + std::to_string(layout.rows));
  }
  for (std::size_t i = 0; i < layout.sparse.size(); ++i) {
    if (is_sound(layout.sparse[i], layout.rows)) continue;
    return fail(Code::kCorrupt,
                "columns whose widths or counts contradict each other, sparse feature " +
                    std::to_string(i));
  }
  return {};
}

}  // namespace forebay
