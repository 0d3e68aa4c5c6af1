#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay {

enum class ColumnKind : std::uint8_t { kDense, kSparse };

struct ColumnRef {
  ColumnKind kind = ColumnKind::kDense;
  std::size_t index = 0;  ///< Slot among those of its kind (ColumnSlots).

  auto operator<=>(const ColumnRef&) const = default;
};

/// What a step is: all that the plan of the order needs to know. A value.
///
/// Every step works on each row alone and keeps nothing from one split to the next. Two steps may
/// run in either order unless their columns, their failures or their rows say otherwise
/// (operator_order.h).
struct StepFacts {
  /// The kinds of steps that change one list column in place and may change places.
  enum class Lists : std::uint8_t {
    kOther,
    kEachId,  ///< Each id becomes another, whatever its row and place.
    kCut,     ///< Keeps the first ids of each list, at least one.
    kFill,    ///< Gives empty lists one id.
  };
  /// What the dense columns that the step writes may hold.
  enum class Missing : std::uint8_t {
    kKept,  ///< Missing values where the source has them.
    kNone,  ///< No missing value.
    kMade,  ///< Missing values of its own.
  };

  std::vector<ColumnRef> reads = {};
  std::vector<ColumnRef> writes = {};  ///< Columns made, changed or dropped.
  Lists lists = Lists::kOther;
  Missing missing = Missing::kKept;
  bool leaves_out_rows = false;  ///< By their origin alone.
  bool may_fail = false;         ///< Depending on the rows that it is given.
  bool inflates = false;         ///< Makes columns or ids beside those that it reads.
  /// A guess, in nanoseconds of CPU for each value or list; replaced by what a run measured.
  double cost = 1;
};

}  // namespace forebay
