#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay {

/// Where the rows of one table lie, and how lookups found them. Sizes in rows. A value.
struct TableTiers {
  std::size_t feature = 0;      ///< The model's feature whose table it is.
  std::uint64_t rows = 0;       ///< The most that it can have.
  std::uint64_t row_bytes = 0;  ///< With the optimizer's state.
  std::uint64_t in_memory = 0;
  /// Only there. Rows in neither tier have their first values, which are not stored.
  std::uint64_t on_disk = 0;
  std::uint64_t lookups = 0;  ///< In the batches trained on; 0 where nothing counts them.
  std::uint64_t found = 0;    ///< Of these, the ones whose row was in memory already.

  bool operator==(const TableTiers&) const = default;
};

}  // namespace forebay
