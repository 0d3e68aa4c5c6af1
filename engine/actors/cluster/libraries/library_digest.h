#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "core/data/digest.h"
#include "engine/actors/cluster/libraries/library_messages.h"

namespace forebay {

/// The digest of a library, from parts of kLibraryChunk bytes and a last one of at most so many.
class LibraryDigest {
 public:
  void add(std::span<const std::byte> part) {
    digest_ = digest_.then(Digest::of(part.data(), part.size()));
  }
  std::string hex() const { return digest_.hex(); }

 private:
  Digest digest_;
};

/// The bytes of the part of a library that begins at `offset`, which is within the library.
inline std::size_t library_part(std::uint64_t library_bytes, std::uint64_t offset) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(kLibraryChunk, library_bytes - offset));
}

}  // namespace forebay
