#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "actors/source/stored/file_list.h"
#include "core/base/result.h"

namespace forebay {

/// The start of a file, decompressed: enough to recognize its format.
struct FileSample {
  static constexpr std::size_t kBytes = 1 << 20;

  std::string path;
  Codec codec = Codec::kPlain;
  std::uint64_t stored_bytes = 0;  ///< Of the whole file.
  std::uint64_t consumed = 0;      ///< Stored bytes that were read for the sample.
  bool whole = false;              ///< Whether the sample is the whole file.
  std::string bytes = {};          ///< The sample, followed by padding for vector code.
  std::size_t size = 0;            ///< Bytes of the sample without the padding.

  std::string_view text() const { return std::string_view(bytes).substr(0, size); }

  /// Estimates the whole file's count from the sample's `count`; exact if the sample is whole.
  std::uint64_t scaled(std::uint64_t count) const;
};

/// Reads the first kBytes of the file's decompressed content. Errors name the file.
Result<FileSample> read_sample(const std::string& path);

}  // namespace forebay
