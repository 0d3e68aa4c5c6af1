#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/data/narrow_ids.h"

namespace forebay {

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
  std::vector<std::shared_ptr<const void>> held;
  std::size_t held_bytes = 0;
};

}  // namespace forebay
