#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "actors/source/file_list.h"

namespace forebay {

/// How much decoders may keep of what they have unpacked. A gzip keeps 32 KiB, a zstd frame its
/// window: 8 MiB at most as zstd packs by itself, up to 2 GiB as `zstd --long=31` does.
struct UnpackRoom {
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();  ///< For one decoder,
  int streams = 1;                                                  ///< of so many at once.

  /// The room that `bytes` give decoders on up to `threads` threads: fewer at once where the first
  /// frame of one of `files` wants a larger window than its share. What cannot be read is left to
  /// be refused where it is unpacked.
  static UnpackRoom divide(std::uint64_t bytes, int threads,
                           const std::vector<const ListedFile*>& files);
};

}  // namespace forebay
