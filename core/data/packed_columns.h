#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/data/narrow_ids.h"

namespace forebay {

/// One sparse feature of a split as it came over a wire; the pointers may stand anywhere.
struct PackedIds {
  const std::byte* values = nullptr;
  IdWidth width = IdWidth::k8;
  std::uint32_t each = 1;                 ///< Ids in every row, unless there are offsets.
  const std::int32_t* offsets = nullptr;  ///< rows + 1 entries, the first 0.

  /// Which id is the first of `row`; of the row behind the last, how many there are.
  std::size_t first_id(std::size_t row) const {
    return offsets == nullptr ? row * each : static_cast<std::size_t>(offsets[row]);
  }
};

/// The columns of a split that another process made: labels as bytes, ids narrow, read-only.
///
/// Keeps alive what the pointers point to. A value to be moved.
struct PackedColumns {
  const std::byte* labels = nullptr;    ///< 0 or 1, a byte each.
  std::vector<const std::byte*> dense;  ///< Per dense feature, a float in 4 bytes each row.
  std::vector<PackedIds> sparse;
  std::vector<std::shared_ptr<const void>> held;
  std::size_t held_bytes = 0;
};

}  // namespace forebay
