#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace forebay::test {

/// `content` as one gzip member.
std::string gzip(std::string_view content);
/// `content` as gzip members of `piece` bytes each.
std::string gzip_members(std::string_view content, std::size_t piece);
/// `content` as one zstd frame.
std::string zstd(std::string_view content);
/// `content` as zstd frames of `piece` bytes each.
std::string zstd_frames(std::string_view content, std::size_t piece);

/// A frame of zstd() that declares a window of 2^`log` bytes and no size, as `zstd --long` packs a
/// pipe.
std::string with_window(const std::string& frame, int log);

/// CSV rows of a label and up to 24 random fields, `bytes` in all or a little more: they pack
/// about as well as click logs do.
std::string random_lines(std::uint64_t seed, std::size_t bytes);

}  // namespace forebay::test
