#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "core/data/buffer_pool.h"
#include "core/wire/codec.h"
#include "core/wire/column_frames.h"
#include "core/wire/column_layout.h"

namespace forebay {
namespace {

/// The error for received columns that are not valid.
auto wrong(const std::string& what) { return fail(Code::kCorrupt, "columns " + what); }

Status check_limits(const ColumnLayout& layout, const UnpackLimits& limits) {
  if (layout.rows > limits.max_rows) {
    return wrong("of more rows than a split has: " + std::to_string(layout.rows) + " of at most " +
                 std::to_string(limits.max_rows));
  }
  if (layout.groups != limits.repeated.size()) {
    return wrong("with " + std::to_string(layout.groups) + " groups of repeated features, not " +
                 std::to_string(limits.repeated.size()));
  }
  std::size_t dense = layout.dense;
  std::size_t sparse = layout.sparse.size();
  for (const FeatureGroup& group : limits.repeated) {
    dense += group.dense.size();
    sparse += group.sparse.size();
  }
  if (dense != limits.dense || sparse != limits.sparse) {
    return wrong("of other features: " + std::to_string(dense) + " dense and " +
                 std::to_string(sparse) + " sparse ones");
  }
  if (layout.weights != limits.weights || layout.extras != limits.extras) {
    return wrong(std::string(layout.weights ? "with" : "without") + " weights and with " +
                 std::to_string(layout.extras) + " extra columns, unlike the job's");
  }
  return {};
}

/// Adds up lengths of one byte, eight at once while each is below 32: a product then holds the sums
/// of the first one to the first eight, and none exceeds its byte. Returns the number of lengths
/// that it added to `sum`; stops at the first eight with a longer one.
std::size_t add_up_short(const std::byte* lengths, std::size_t rows, std::uint64_t& sum,
                         std::int32_t* offsets) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kLong = kOnes * 0xe0;
  static_assert(std::endian::native == std::endian::little);
  std::array<std::uint8_t, 8> sums{};
  std::size_t row = 0;
  for (; row + sums.size() <= rows; row += sums.size()) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, lengths + row, sizeof(eight));
    if ((eight & kLong) != 0) break;
    eight *= kOnes;
    std::memcpy(sums.data(), &eight, sizeof(eight));
    const auto before = static_cast<std::int32_t>(sum);
    for (std::size_t i = 0; i < sums.size(); ++i) offsets[row + i + 1] = before + sums[i];
    sum += sums.back();
  }
  return row;
}

/// Turns the lengths of one feature into offsets; false unless they add up to its number of ids.
bool add_up(const std::byte* lengths, std::size_t rows, const IdsLayout& ids,
            std::int32_t* offsets) {
  return with_width(ids.length_bytes, [&]<class T>(T length) {
    std::uint64_t sum = 0;
    offsets[0] = 0;
    std::size_t first = 0;
    if (sizeof(T) == 1) first = add_up_short(lengths, rows, sum, offsets);
    for (std::size_t row = first; row < rows; ++row) {
      std::memcpy(&length, lengths + row * sizeof(T), sizeof(T));
      sum += length;
      offsets[row + 1] = static_cast<std::int32_t>(sum);
    }
    return sum == ids.count;
  });
}

bool are_labels(const std::byte* labels, std::size_t rows) {
  std::byte bits{};
  for (std::size_t row = 0; row < rows; ++row) bits |= labels[row];
  return bits <= std::byte{1};
}

bool are_weights(const std::byte* weights, std::size_t rows) {
  bool sound = true;
  for (std::size_t row = 0; row < rows; ++row) {
    float weight = 0;
    std::memcpy(&weight, weights + row * sizeof(float), sizeof(float));
    sound = sound && std::isfinite(weight) && weight >= 0;
  }
  return sound;
}

/// One slab for the offsets of all jagged features.
Buffer offsets_slab(const ColumnLayout& layout, BufferPool& pool) {
  std::size_t jagged = 0;
  for (const IdsLayout& ids : layout.sparse) jagged += ids.length_bytes > 0 ? 1 : 0;
  if (jagged == 0) return {};
  return pool.take(jagged * SlabCarver::aligned<std::int32_t>(layout.rows + 1));
}

/// Sets the pointers of `columns` into `sent`, which has exactly the bytes that the layout
/// requires.
Status wrap(const ColumnLayout& layout, const Frame& sent, BufferPool& pool, ColumnSet& columns) {
  // A frame without bytes may have a null address, which would mean a column that is not there.
  static constexpr std::byte kNothing{};
  const std::byte* data = sent.size() > 0 ? sent.data() : &kNothing;
  const ColumnLocations places = ColumnLocations::of(layout);
  columns.rows = layout.rows;
  PackedColumns& packed = columns.packed.emplace();
  packed.labels = data + places.labels;
  if (layout.labels && !are_labels(packed.labels, columns.rows))
    return wrong("with a label that is not 0 or 1");
  packed.dense.reserve(layout.dense);
  for (const std::size_t place : places.dense) packed.dense.push_back(data + place);
  if (layout.weights) {
    packed.weights = data + places.weights;
    if (!are_weights(packed.weights, columns.rows)) return wrong("with an impossible weight");
  }
  packed.extras.reserve(layout.extras);
  for (const std::size_t place : places.extras) packed.extras.push_back(data + place);
  Buffer slab = offsets_slab(layout, pool);
  SlabCarver carver(slab.data());
  packed.sparse.reserve(layout.sparse.size());
  for (std::size_t i = 0; i < layout.sparse.size(); ++i) {
    const IdsLayout& ids = layout.sparse[i];
    PackedIds wrapped{data + places.sparse[i].values, ids.width, ids.each, nullptr};
    if (ids.length_bytes > 0) {
      auto* offsets = carver.take<std::int32_t>(columns.rows + 1);
      if (!add_up(data + places.sparse[i].lengths, columns.rows, ids, offsets)) {
        return wrong("whose lengths do not add up, sparse feature " + std::to_string(i));
      }
      wrapped.offsets = offsets;
    }
    packed.sparse.push_back(wrapped);
  }
  if (slab) columns.slabs.push_back(std::move(slab));
  return {};
}

/// The data of the second frame, decompressed.
Result<Frame> plain_data(const ColumnLayout& layout, const Frame& sent, const UnpackLimits& limits,
                         BufferPool& pool) {
  const std::size_t bytes = ColumnLocations::of(layout).bytes;
  if (bytes > limits.max_bytes) {
    return wrong("of more bytes than are taken: " + std::to_string(bytes) + " of at most " +
                 std::to_string(limits.max_bytes));
  }
  if (layout.compression == Compression::kNone) {
    if (sent.size() == bytes) return sent;
    return wrong("of " + std::to_string(bytes) + " bytes that came as " +
                 std::to_string(sent.size()));
  }
  auto data = decompressed({sent.data(), sent.size()}, layout.compression, bytes, pool);
  if (!data) return pass(data);
  return frame_of(std::move(*data));
}

/// Unpacks one set, whose features are those in place.
Result<UnpackedColumns> unpack_set(std::span<const Frame> frames, const ColumnLayout& layout,
                                   const UnpackLimits& limits, BufferPool& pool) {
  const Frame& sent = frames[1];
  if (layout.checksum &&
      *layout.checksum != ColumnLayout::checksum_of({sent.data(), sent.size()})) {
    return wrong("that changed on their way: the checksum differs");
  }
  auto data = plain_data(layout, sent, limits, pool);
  if (!data) return pass(data);
  UnpackedColumns result;
  if (auto status = wrap(layout, *data, pool, result.columns); !status) {
    return pass(status);
  }
  result.columns.packed->held.push_back(data->keeper());
  result.columns.packed->held_bytes = data->size();
  return result;
}

Result<ColumnLayout> layout_in(const Frame& frame, const UnpackLimits& limits, bool has_labels) {
  auto layout = decode_value<ColumnLayout>("columns", {frame.data(), frame.size()});
  if (!layout) return pass(layout);
  if (auto status = check(*layout); !status) return pass(status);
  if (auto status = check_limits(*layout, limits); !status) return pass(status);
  if (layout->labels != has_labels) return wrong("whose labels are missing, or not wanted");
  return layout;
}

/// Makes room for the features of groups among those in place.
template <class Column>
void spread(std::size_t all, const std::vector<FeatureGroup>& groups,
            const std::vector<std::size_t> FeatureGroup::*features, std::vector<Column>& columns) {
  std::vector<bool> is_stored_once(all, false);
  for (const FeatureGroup& group : groups) {
    for (const std::size_t feature : group.*features) is_stored_once[feature] = true;
  }
  std::vector<Column> spread(all);
  std::size_t next = 0;
  for (std::size_t i = 0; i < all; ++i) {
    if (!is_stored_once[i]) spread[i] = columns[next++];
  }
  columns = std::move(spread);
}

/// Reads the references of all rows to the rows of a group.
Result<RepeatedColumns> references(const std::byte* indices, std::size_t rows, ColumnSet group,
                                   ColumnSet& columns, BufferPool& pool) {
  columns.slabs.push_back(pool.take(rows * sizeof(UniqueRow)));
  RepeatedColumns repeated{.sets = {}, .rows = columns.slabs.back().as<UniqueRow>()};
  for (std::size_t row = 0; row < rows; ++row) {
    std::uint32_t index = 0;
    std::memcpy(&index, indices + row * sizeof(index), sizeof(index));
    if (index >= group.rows) {
      return wrong("with a reference to row " + std::to_string(index) + " of " +
                   std::to_string(group.rows) + " repeated ones");
    }
    repeated.rows[row] = {.set = 0, .row = index};
  }
  repeated.sets.push_back(std::make_shared<ColumnSet>(std::move(group)));
  return repeated;
}

}  // namespace

Result<UnpackedColumns> unpack_columns(const Frames& frames, const UnpackLimits& limits,
                                       BufferPool& pool) {
  const std::size_t expected = column_frames(limits.repeated.size());
  if (frames.size() != expected) {
    return wrong("in " + std::to_string(frames.size()) + " frames, not " +
                 std::to_string(expected));
  }
  auto layout = layout_in(frames[0], limits, true);
  if (!layout) return pass(layout);
  auto result = unpack_set(std::span(frames).first(2), *layout, limits, pool);
  if (!result) return pass(result);
  ColumnSet& columns = result->columns;
  result->extra = layout->extra;
  if (limits.repeated.empty()) return result;
  spread(limits.dense, limits.repeated, &FeatureGroup::dense, columns.packed->dense);
  spread(limits.sparse, limits.repeated, &FeatureGroup::sparse, columns.packed->sparse);
  const ColumnLocations places = ColumnLocations::of(*layout);
  const std::byte* data = columns.packed->labels - places.labels;
  for (std::size_t i = 0; i < limits.repeated.size(); ++i) {
    const FeatureGroup& group = limits.repeated[i];
    const UnpackLimits own{.max_rows = limits.max_rows,
                           .dense = group.dense.size(),
                           .sparse = group.sparse.size(),
                           .max_bytes = limits.max_bytes};
    const auto two = std::span(frames).subspan(2 * (i + 1), 2);
    auto own_layout = layout_in(two[0], own, false);
    if (!own_layout) return pass(own_layout);
    auto rows = unpack_set(two, *own_layout, own, pool);
    if (!rows) return pass(rows);
    auto repeated =
        references(data + places.groups[i], columns.rows, std::move(rows->columns), columns, pool);
    if (!repeated) return pass(repeated);
    columns.repeated.push_back(std::move(*repeated));
  }
  return result;
}

}  // namespace forebay
