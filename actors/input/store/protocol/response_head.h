#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace forebay {

/// The bytes that a response with status 206 holds.
struct ContentRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;  ///< One past the last byte.
  std::uint64_t total = 0;

  bool operator==(const ContentRange&) const = default;
};

/// Reads `bytes 0-5/10`, or the total alone of `bytes */10` (first = end = 0); nothing else.
std::optional<ContentRange> parse_content_range(std::string_view value);

/// The status line and the headers of a response that are of use. Each value is at most 1 KiB.
struct ResponseHead {
  int status = 0;
  std::optional<std::uint64_t> content_length = {};
  std::optional<ContentRange> content_range = {};
  std::string etag;
  std::string last_modified;
  std::string date;
  std::string region;  ///< x-amz-bucket-region
  std::string location;

  /// Takes one line of the head; a status line begins anew, as after a redirect.
  void add_line(std::string_view line);
};

}  // namespace forebay
