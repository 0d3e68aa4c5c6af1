#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "actors/source/codec.h"
#include "core/base/result.h"

namespace forebay {

/// The start of a file, decompressed: enough to tell what it holds.
struct FileSample {
  static constexpr std::size_t kBytes = 1 << 20;

  std::string path;
  Codec codec = Codec::kPlain;
  std::uint64_t stored_bytes = 0;  ///< Of the whole file.
  std::uint64_t consumed = 0;      ///< Stored bytes that the sample took.
  bool whole = false;              ///< Whether the sample is all there is.
  std::string bytes = {};          ///< The sample, and padding behind it for vector code.
  std::size_t size = 0;            ///< Without the padding.

  std::string_view text() const { return std::string_view(bytes).substr(0, size); }

  /// The whole file's count of something of which the sample has `count`: exact when it is whole.
  std::uint64_t scaled(std::uint64_t count) const;
};

/// Reads the first kBytes of what the file at `path` holds. Errors name the file.
Result<FileSample> read_sample(const std::string& path);

}  // namespace forebay
