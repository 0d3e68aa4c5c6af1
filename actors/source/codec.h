#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// How a file's bytes are stored.
enum class Codec : std::uint8_t { kPlain, kGzip, kZstd };

/// Tells the codec by the file's first bytes (8 are enough), whatever its name. kInvalid, naming
/// `path`, when the name promises `.gz` or `.zst` and the bytes are something else, and for the
/// magic of a compression that is not read.
Result<Codec> detect_codec(const std::string& path, std::span<const char> head);

/// `path` without a `.gz` or `.zst` at its end.
std::string without_codec_suffix(const std::string& path);

}  // namespace forebay
