#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "actors/source/stored/file_list.h"

namespace forebay {

/// The memory that decoders may use for content they have unpacked. A gzip decoder keeps 32 KiB. A
/// zstd decoder keeps the window of its frame: up to 8 MiB by default, up to 2 GiB with
/// `zstd --long=31`.
struct UnpackRoom {
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();  ///< For one decoder.
  int streams = 1;                                                  ///< Decoders at once.

  /// Divides `bytes` among decoders on up to `threads` threads. Allows fewer decoders at once when
  /// the first frame of one of `files` has a larger window than its share. Ignores files that
  /// cannot be read; unpacking them fails later.
  static UnpackRoom divide(std::uint64_t bytes, int threads,
                           const std::vector<const ListedFile*>& files);
};

}  // namespace forebay
