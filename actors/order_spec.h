#pragma once

#include <cstdint>
#include <string>

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

/// Returns the value as the job file spells it.
inline std::string name_of(OrderSpec::Shuffle shuffle) {
  switch (shuffle) {
    case OrderSpec::Shuffle::kAll:
      return "true";
    case OrderSpec::Shuffle::kFile:
      return "file";
    case OrderSpec::Shuffle::kNone:
      return "false";
  }
  return {};
}

}  // namespace forebay
