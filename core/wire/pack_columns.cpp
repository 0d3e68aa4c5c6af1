#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "core/base/check.h"
#include "core/wire/codec.h"
#include "core/wire/column_frames.h"
#include "core/wire/column_layout.h"

namespace forebay {
namespace {

/// Lengths of lists: omitted if all are equal, else as narrow as the longest permits.
IdsLayout lists_of(const SparseColumn& column, std::size_t rows) {
  IdsLayout ids;
  ids.count = column.count(rows);
  if (column.offsets == nullptr || rows == 0) return ids;
  std::int32_t shortest = column.offsets[1] - column.offsets[0];
  std::int32_t longest = shortest;
  for (std::size_t row = 1; row < rows; ++row) {
    const std::int32_t length = column.offsets[row + 1] - column.offsets[row];
    shortest = std::min(shortest, length);
    longest = std::max(longest, length);
  }
  if (shortest == longest) {
    ids.each = static_cast<std::uint32_t>(longest);
  } else {
    ids.length_bytes = longest <= 0xff ? 1 : longest <= 0xffff ? 2 : 4;
  }
  return ids;
}

IdWidth width_of(const SparseColumn& column, const IdsLayout& ids, std::int64_t bound) {
  if (bound > 0) return width_for_bits(static_cast<std::uint64_t>(bound - 1));
  return width_for_bits(bits_of(column.values, ids.count));
}

/// Writes each value as a T, consecutively.
template <class T, class Value>
void write_as(std::size_t count, Value value, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i, to += sizeof(T)) {
    const auto narrow = static_cast<T>(value(i));
    std::memcpy(to, &narrow, sizeof(T));
  }
}

/// Writes one column set into a buffer according to a layout.
class Packer {
 public:
  Packer(const ColumnSet& columns, const ColumnLayout& layout, std::byte* data)
      : columns_(columns), layout_(layout), places_(ColumnLocations::of(layout)), data_(data) {}

  void write_plain_columns() {
    bool known = true;
    write_as<std::uint8_t>(
        columns_.rows,
        [&](std::size_t row) {
          const float label = columns_.labels[row];
          known = known && (label == 0 || label == 1);
          return label;
        },
        data_ + places_.labels);
    FOREBAY_CHECK(known);
    end_part(places_.labels, columns_.rows);
    for (std::size_t i = 0; i < columns_.dense.size(); ++i) {
      write_plain(columns_.dense[i], places_.dense[i]);
    }
    if (layout_.weights) write_plain(columns_.weights, places_.weights);
    for (std::size_t i = 0; i < columns_.extras.size(); ++i) {
      write_plain(columns_.extras[i], places_.extras[i]);
    }
  }

  /// Returns the width that the feature's ids need; it is wider than the layout's if they do not
  /// fit.
  IdWidth write_ids(std::size_t feature) {
    const IdsLayout& ids = layout_.sparse[feature];
    const ColumnLocations::Ids& place = places_.sparse[feature];
    write_lengths(columns_.sparse[feature], ids.length_bytes, data_ + place.lengths);
    end_part(place.lengths, columns_.rows * ids.length_bytes);
    const std::uint64_t bits =
        narrow_ids(columns_.sparse[feature].values, ids.count, ids.width, data_ + place.values);
    end_part(place.values, ids.count * static_cast<std::size_t>(ids.width));
    return width_for_bits(bits);
  }

 private:
  template <class T>
  void write_plain(const T* values, std::size_t place) {
    const std::size_t bytes = columns_.rows * sizeof(T);
    if (bytes > 0) std::memcpy(data_ + place, values, bytes);
    end_part(place, bytes);
  }

  void write_lengths(const SparseColumn& column, unsigned bytes, std::byte* to) const {
    const auto length = [&](std::size_t row) {
      return column.offsets[row + 1] - column.offsets[row];
    };
    if (bytes == 0) return;
    with_width(bytes, [&]<class T>(T) { write_as<T>(columns_.rows, length, to); });
  }

  /// Zeroes the padding after a column, so that no uninitialized bytes leave the process.
  void end_part(std::size_t place, std::size_t bytes) {
    const std::size_t end = place + bytes;
    const std::size_t gap =
        (ColumnLayout::kAlignment - end % ColumnLayout::kAlignment) % ColumnLayout::kAlignment;
    std::memset(data_ + end, 0, gap);
  }

  const ColumnSet& columns_;
  const ColumnLayout& layout_;
  const ColumnLocations places_;
  std::byte* const data_;
};

/// Writes all columns. Widens the layout of each feature whose ids did not fit; returns whether all
/// did.
bool fill(const ColumnSet& columns, ColumnLayout& layout, const Buffer& data) {
  Packer packer(columns, layout, data.data());
  packer.write_plain_columns();
  bool fits = true;
  for (std::size_t i = 0; i < columns.sparse.size(); ++i) {
    const IdWidth needed = packer.write_ids(i);
    if (needed <= layout.sparse[i].width) continue;
    layout.sparse[i].width = needed;
    fits = false;
  }
  return fits;
}

Frame frame_of(const ColumnLayout& layout) {
  const auto held = std::make_shared<WireBuffer>();
  encode_value(layout, *held);
  return {held, held->bytes().data(), held->size()};
}

}  // namespace

std::vector<std::int64_t> id_bounds(const Schema& schema) {
  std::vector<std::int64_t> bounds;
  bounds.reserve(schema.sparse.size());
  for (const SparseFeature& feature : schema.sparse) bounds.push_back(feature.bound);
  return bounds;
}

Frames pack_columns(const ColumnSet& columns, std::span<const std::byte> extra,
                    const PackOptions& options, BufferPool& pool) {
  FOREBAY_CHECK(!columns.packed && columns.rows <= ColumnLayout::kMost);
  ColumnLayout layout;
  layout.rows = columns.rows;
  layout.dense = static_cast<std::uint32_t>(columns.dense.size());
  layout.weights = columns.weights != nullptr;
  layout.extras = static_cast<std::uint32_t>(columns.extras.size());
  layout.sparse.reserve(columns.sparse.size());
  for (std::size_t i = 0; i < columns.sparse.size(); ++i) {
    IdsLayout ids = lists_of(columns.sparse[i], columns.rows);
    const std::int64_t bound = i < options.bounds.size() ? options.bounds[i] : 0;
    ids.width = width_of(columns.sparse[i], ids, bound);
    layout.sparse.push_back(ids);
  }
  Buffer data = pool.take(ColumnLocations::of(layout).bytes);
  while (!fill(columns, layout, data)) data = pool.take(ColumnLocations::of(layout).bytes);
  Buffer smaller = compressed({data.data(), data.size()}, options.compression, pool);
  if (smaller) {
    data = std::move(smaller);
    layout.compression = options.compression;
  }
  if (options.checksum) layout.checksum = ColumnLayout::checksum_of({data.data(), data.size()});
  layout.extra.assign(extra.begin(), extra.end());
  return {frame_of(layout), frame_of(std::move(data))};
}

}  // namespace forebay
