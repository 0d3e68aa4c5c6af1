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
  if (layout.dense != limits.dense || layout.sparse.size() != limits.sparse) {
    return wrong("of other features: " + std::to_string(layout.dense) + " dense and " +
                 std::to_string(layout.sparse.size()) + " sparse ones");
  }
  if (layout.weights != limits.weights || layout.extras != limits.extras) {
    return wrong(std::string(layout.weights ? "with" : "without") + " weights and with " +
                 std::to_string(layout.extras) + " extra columns, unlike the job's");
  }
  return {};
}

/// Turns the lengths of one feature into offsets; false unless they add up to its number of ids.
bool add_up(const std::byte* lengths, std::size_t rows, const IdsLayout& ids,
            std::int32_t* offsets) {
  return with_width(ids.length_bytes, [&]<class T>(T length) {
    std::uint64_t sum = 0;
    offsets[0] = 0;
    for (std::size_t row = 0; row < rows; ++row) {
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
  if (!are_labels(packed.labels, columns.rows)) return wrong("with a label that is not 0 or 1");
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

}  // namespace

Result<UnpackedColumns> unpack_columns(const Frames& frames, const UnpackLimits& limits,
                                       BufferPool& pool) {
  if (frames.size() != 2) return wrong("in " + std::to_string(frames.size()) + " frames, not 2");
  auto layout = decode_value<ColumnLayout>("columns", {frames[0].data(), frames[0].size()});
  if (!layout) return pass(layout);
  if (auto status = check(*layout); !status) return pass(status);
  if (auto status = check_limits(*layout, limits); !status) return pass(status);
  const Frame& sent = frames[1];
  if (layout->checksum &&
      *layout->checksum != ColumnLayout::checksum_of({sent.data(), sent.size()})) {
    return wrong("that changed on their way: the checksum differs");
  }
  auto data = plain_data(*layout, sent, limits, pool);
  if (!data) return pass(data);
  UnpackedColumns result;
  if (auto status = wrap(*layout, *data, pool, result.columns); !status) {
    return pass(status);
  }
  result.columns.packed->held.push_back(data->keeper());
  result.columns.packed->held_bytes = data->size();
  result.extra = std::move(layout->extra);
  return result;
}

}  // namespace forebay
