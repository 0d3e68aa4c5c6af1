#pragma once

#include <cstdint>

#include "core/base/enum_names.h"

namespace forebay {

/// `[order]` of the job file: the order of rows, and how they are cut into batches.
struct OrderSpec {
  enum class Shuffle : std::uint8_t {
    kAll,   ///< `true`: rows of the whole dataset are mixed.
    kFile,  ///< `"file"`: files in order, rows mixed inside each.
    kNone,  ///< `false`: rows in file order.
  };
  enum class Mode : std::uint8_t {
    kExact,    ///< The batch sequence is a function of (dataset, seed, epoch, batch size).
    kArrival,  ///< Splits are used as they arrive; each row is still used once.
  };

  std::uint64_t seed = 1;
  Shuffle shuffle = Shuffle::kAll;
  Mode mode = Mode::kExact;
  std::uint64_t epochs = 1;
  std::uint64_t batch_size = 8192;
  bool drop_last = false;
};

inline constexpr EnumName<OrderSpec::Shuffle> kShuffleNames[] = {
    {"true", OrderSpec::Shuffle::kAll},
    {"file", OrderSpec::Shuffle::kFile},
    {"false", OrderSpec::Shuffle::kNone}};
inline constexpr EnumName<OrderSpec::Mode> kOrderModeNames[] = {
    {"exact", OrderSpec::Mode::kExact}, {"arrival", OrderSpec::Mode::kArrival}};

}  // namespace forebay
