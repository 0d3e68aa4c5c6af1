#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/result.h"

namespace forebay {

/// The compression of a stored file.
enum class Codec : std::uint8_t { kPlain, kGzip, kZstd };

/// Detects the codec by the file's first bytes (8 are enough), not by its name. kInvalid, naming
/// `path`, when the name ends in `.gz` or `.zst` and the bytes are of another format, and for the
/// magic of a format that Forebay does not read.
Result<Codec> detect_codec(const std::string& path, std::span<const char> head);

/// Returns `path` without a `.gz` or `.zst` at its end.
std::string without_codec_suffix(const std::string& path);

}  // namespace forebay
