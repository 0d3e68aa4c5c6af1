#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/data/buffer_pool.h"

namespace forebay {

/// Bytes of a narrowed id: 1, 2 or 4 (unsigned), or all 8.
enum class IdWidth : std::uint8_t { k1 = 1, k2 = 2, k4 = 4, k8 = 8 };

/// The narrowest width for ids whose bitwise OR is `bits`. A single negative id requires k8.
constexpr IdWidth width_for_bits(std::uint64_t bits) {
  if (bits <= 0xff) return IdWidth::k1;
  if (bits <= 0xffff) return IdWidth::k2;
  return bits <= 0xffffffff ? IdWidth::k4 : IdWidth::k8;
}

/// Calls `visit` with a value of the unsigned type of 1, 2, 4 or 8 `bytes`.
template <class Visitor>
auto with_width(std::size_t bytes, const Visitor& visit) {
  switch (bytes) {
    case 1:
      return visit(std::uint8_t{});
    case 2:
      return visit(std::uint16_t{});
    case 4:
      return visit(std::uint32_t{});
    default:
      return visit(std::uint64_t{});
  }
}

/// The bitwise OR of `ids`.
std::uint64_t bits_of(const std::int64_t* ids, std::size_t count);

/// Writes the lowest `width` bytes of each id to `to`, which needs no alignment. Returns
/// bits_of(ids): the ids were written completely only if width_for_bits of the result is not wider
/// than `width`.
std::uint64_t narrow_ids(const std::int64_t* ids, std::size_t count, IdWidth width, std::byte* to);

/// Reads narrowed ids back from `from`, which needs no alignment.
void widen_ids(const std::byte* from, IdWidth width, std::size_t count, std::int64_t* to);

/// One sparse feature of a received split; the pointers need no alignment.
struct PackedIds {
  const std::byte* values = nullptr;
  IdWidth width = IdWidth::k8;
  std::uint32_t each = 1;                 ///< Ids in every row, when `offsets` is null.
  const std::int32_t* offsets = nullptr;  ///< rows + 1 entries, the first 0.

  /// The index of the first id of `row`; for row == rows, the number of ids.
  std::size_t first_id(std::size_t row) const {
    return offsets == nullptr ? row * each : static_cast<std::size_t>(offsets[row]);
  }
};

/// The read-only columns of a split that another process made: labels as bytes, ids narrow.
///
/// Keeps the memory behind its pointers alive. A value to be moved.
struct PackedColumns {
  const std::byte* labels = nullptr;    ///< 0 or 1, a byte each.
  std::vector<const std::byte*> dense;  ///< Per dense feature, a float in 4 bytes each row.
  std::vector<PackedIds> sparse;
  const std::byte* weights = nullptr;    ///< A float in 4 bytes each row; nullptr: none.
  std::vector<const std::byte*> extras;  ///< Per extra column, 8 bytes each row.
  std::vector<std::shared_ptr<const void>> held;
  std::size_t held_bytes = 0;
};

/// The dense value of an empty field: a quiet NaN whose payload distinguishes it from the ordinary
/// NaN. A value still missing after all transforms becomes 0.
inline constexpr std::uint32_t kMissingBits = 0x7fc0dead;
/// The only ordinary NaN that transforms may produce.
inline constexpr std::uint32_t kNanBits = 0x7fc00000;

inline float missing_value() { return std::bit_cast<float>(kMissingBits); }
inline bool is_missing(float value) { return std::bit_cast<std::uint32_t>(value) == kMissingBits; }

/// The source of a row: file number in the dataset and byte offset in that (decompressed) file.
struct RowOrigin {
  std::uint64_t packed = 0;  ///< file << 40 | offset

  static RowOrigin of(std::uint32_t file, std::uint64_t offset) {
    return {std::uint64_t{file} << 40 | offset};
  }
  std::uint32_t file() const { return static_cast<std::uint32_t>(packed >> 40); }
  std::uint64_t offset() const { return packed & ((std::uint64_t{1} << 40) - 1); }
};

/// One sparse feature of a split. The ids of row i are the values from index offsets[i] up to, but
/// not including, offsets[i + 1].
struct SparseColumn {
  std::int64_t* values = nullptr;
  std::int32_t* offsets =
      nullptr;  ///< rows + 1 entries, the first 0; nullptr: one id in every row.

  /// The index of the first id of `row`; for the row behind the last one, the number of ids.
  std::size_t first_id(std::size_t row) const {
    return offsets == nullptr ? row : static_cast<std::size_t>(offsets[row]);
  }
  std::size_t count(std::size_t rows) const { return first_id(rows); }
};

struct ColumnSet;

/// Where a row's values of a group of repeated columns are.
struct UniqueRow {
  std::uint32_t set = 0;  ///< Index into RepeatedColumns::sets.
  std::uint32_t row = 0;  ///< In that set.

  bool operator==(const UniqueRow&) const = default;
};

/// The columns of one group of Schema::repeated, whose values are stored once for all rows that
/// share them.
///
/// Feature group.dense[i] is column i of `dense` of every set, and the same with `sparse`; sets may
/// have more columns behind those. The sets have no labels and no rest. Parts of a
/// split may share them, so nobody changes a set that has left the actor that made it.
struct RepeatedColumns {
  std::vector<std::shared_ptr<ColumnSet>> sets;
  UniqueRow* rows = nullptr;  ///< One for each row of the set that these columns belong to.
};

/// The rows of a split as columns, in the order of a Schema that is passed along separately.
///
/// A feature of a group of Schema::repeated may be in `repeated` instead: then its entry in `dense`
/// or `sparse` is null (core/data/repeated_columns.h).
///
/// Owns its memory through `slabs`; the pointers are views into them (64-byte aligned, with the
/// padding of a Buffer). Has one owner at a time, which may change the columns; stages pass it on
/// by moving. Rows received from another process are in `packed` alone and are read-only.
struct ColumnSet {
  std::size_t rows = 0;
  float* labels = nullptr;           ///< 0 or 1, `rows` of them.
  std::vector<float*> dense;         ///< Per dense feature, `rows` values.
  std::vector<SparseColumn> sparse;  ///< Per sparse feature.
  RowOrigin* origins = nullptr;      ///< `rows` of them; nullptr unless the decoder was asked.
  /// `rows` factors of the loss, finite and not negative; nullptr unless the schema has weights.
  float* weights = nullptr;
  /// Per extra column, `rows` values: integers, or the bits of a float64 (missing: 0 or NaN).
  std::vector<std::int64_t*> extras;
  std::vector<RepeatedColumns> repeated;  ///< By group; empty: no column is stored so.
  std::vector<Buffer> slabs;
  std::optional<PackedColumns> packed;

  /// Bytes held, including the unused ends of the slabs and those of the sets of
  /// `repeated` that nobody else holds.
  std::size_t bytes() const;
};

}  // namespace forebay
