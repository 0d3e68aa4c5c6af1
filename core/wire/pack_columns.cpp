#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "core/base/check.h"
#include "core/data/repeated_columns.h"
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

/// A set with all of its columns in place, and for each group of repeated columns, whose rows go
/// into frames of their own, each row's index among those.
struct Packed {
  ColumnSet columns;
  std::vector<Buffer> indices = {};
};

/// Writes one column set into a buffer according to a layout.
class Packer {
 public:
  Packer(const Packed& packed, const ColumnLayout& layout, std::byte* data)
      : columns_(packed.columns),
        indices_(packed.indices),
        layout_(layout),
        places_(ColumnLocations::of(layout)),
        data_(data) {}

  void write_plain_columns() {
    if (layout_.labels) write_labels();
    for (std::size_t i = 0; i < columns_.dense.size(); ++i) {
      write_plain(columns_.dense[i], places_.dense[i]);
    }
    if (layout_.weights) write_plain(columns_.weights, places_.weights);
    for (std::size_t i = 0; i < columns_.extras.size(); ++i) {
      write_plain(columns_.extras[i], places_.extras[i]);
    }
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      write_plain(indices_[i].as<std::uint32_t>(), places_.groups[i]);
    }
  }

  void write_labels() {
    bool known = true;
    write_as<std::uint8_t>(
        columns_.rows,
        [&known, labels = columns_.labels](std::size_t row) {
          const float label = labels[row];
          known = known && (label == 0 || label == 1);
          return label;
        },
        data_ + places_.labels);
    FOREBAY_CHECK(known);
    end_part(places_.labels, columns_.rows);
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
    // The bytes written could be those of `column`, so its pointer would be read for each row.
    const auto length = [offsets = column.offsets](std::size_t row) {
      return offsets[row + 1] - offsets[row];
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
  const std::vector<Buffer>& indices_;
  const ColumnLayout& layout_;
  const ColumnLocations places_;
  std::byte* const data_;
};

/// Writes all columns. Widens the layout of each feature whose ids did not fit; returns whether all
/// did.
bool fill(const Packed& packed, ColumnLayout& layout, const Buffer& data) {
  Packer packer(packed, layout, data.data());
  packer.write_plain_columns();
  bool fits = true;
  for (std::size_t i = 0; i < packed.columns.sparse.size(); ++i) {
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

/// The columns of `columns` that are not stored once, without their memory, and their bounds.
ColumnSet plain_part(const ColumnSet& columns, const std::vector<std::int64_t>& all_bounds,
                     std::vector<std::int64_t>& bounds) {
  ColumnSet part;
  part.rows = columns.rows;
  part.labels = columns.labels;
  part.weights = columns.weights;
  part.extras = columns.extras;
  for (float* values : columns.dense) {
    if (values != nullptr) part.dense.push_back(values);
  }
  for (std::size_t i = 0; i < columns.sparse.size(); ++i) {
    if (columns.sparse[i].values == nullptr) continue;
    part.sparse.push_back(columns.sparse[i]);
    bounds.push_back(i < all_bounds.size() ? all_bounds[i] : 0);
  }
  return part;
}

std::vector<std::int64_t> bounds_of(const FeatureGroup& features,
                                    const std::vector<std::int64_t>& all_bounds) {
  std::vector<std::int64_t> bounds;
  for (const std::size_t i : features.sparse) {
    bounds.push_back(i < all_bounds.size() ? all_bounds[i] : 0);
  }
  return bounds;
}

ColumnLayout layout_of(const Packed& packed, const std::vector<std::int64_t>& bounds) {
  const ColumnSet& columns = packed.columns;
  ColumnLayout layout;
  layout.rows = columns.rows;
  layout.dense = static_cast<std::uint32_t>(columns.dense.size());
  layout.weights = columns.weights != nullptr;
  layout.extras = static_cast<std::uint32_t>(columns.extras.size());
  layout.groups = static_cast<std::uint32_t>(packed.indices.size());
  layout.labels = columns.labels != nullptr;
  layout.sparse.reserve(columns.sparse.size());
  for (std::size_t i = 0; i < columns.sparse.size(); ++i) {
    IdsLayout ids = lists_of(columns.sparse[i], columns.rows);
    ids.width = width_of(columns.sparse[i], ids, bounds[i]);
    layout.sparse.push_back(ids);
  }
  return layout;
}

Frames pack_set(const Packed& packed, const std::vector<std::int64_t>& bounds,
                std::span<const std::byte> extra, const PackOptions& options, BufferPool& pool) {
  ColumnLayout layout = layout_of(packed, bounds);
  Buffer data = pool.take(ColumnLocations::of(layout).bytes);
  while (!fill(packed, layout, data)) data = pool.take(ColumnLocations::of(layout).bytes);
  Buffer smaller = compressed({data.data(), data.size()}, options.compression, pool);
  if (smaller) {
    data = std::move(smaller);
    layout.compression = options.compression;
  }
  if (options.checksum) layout.checksum = ColumnLayout::checksum_of({data.data(), data.size()});
  layout.extra.assign(extra.begin(), extra.end());
  return {frame_of(layout), frame_of(std::move(data))};
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
  FOREBAY_CHECK(columns.repeated.size() == options.repeated.size());
  std::vector<std::int64_t> bounds;
  Packed plain{plain_part(columns, options.bounds, bounds)};
  Frames groups;
  for (std::size_t i = 0; i < columns.repeated.size(); ++i) {
    const FeatureGroup& features = options.repeated[i];
    plain.indices.push_back(pool.take(columns.rows * sizeof(std::uint32_t)));
    const Packed rows{named_rows(columns.repeated[i], columns.rows, features,
                                 plain.indices.back().as<std::uint32_t>(), pool)};
    const Frames two = pack_set(rows, bounds_of(features, options.bounds), {}, options, pool);
    groups.insert(groups.end(), two.begin(), two.end());
  }
  Frames frames = pack_set(plain, bounds, extra, options, pool);
  frames.insert(frames.end(), groups.begin(), groups.end());
  return frames;
}

}  // namespace forebay
