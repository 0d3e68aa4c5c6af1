#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace forebay::test {

/// Compresses `content` into one gzip member.
std::string gzip(std::string_view content);
/// Compresses `content` into gzip members of `piece` bytes of content each.
std::string gzip_members(std::string_view content, std::size_t piece);
/// Compresses `content` into one zstd frame.
std::string zstd(std::string_view content);
/// Compresses `content` into zstd frames of `piece` bytes of content each.
std::string zstd_frames(std::string_view content, std::size_t piece);

/// Returns `frame`, made by zstd(), with a header that declares a window of 2^`log` bytes and no
/// content size, like the output of `zstd --long` for a pipe.
std::string with_window(const std::string& frame, int log);

/// Returns CSV rows of a label and up to 24 random fields, `bytes` in total or slightly more. They
/// compress about as well as click logs.
std::string random_lines(std::uint64_t seed, std::size_t bytes);

}  // namespace forebay::test
