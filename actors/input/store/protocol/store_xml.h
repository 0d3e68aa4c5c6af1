#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// The most bytes that are read of one page of a listing: 1,000 keys of 1 KiB, each byte encoded.
inline constexpr std::size_t kMostListBytes = std::size_t{8} << 20;

/// One page of ListObjectsV2, keys decoded.
struct ListPage {
  struct Object {
    std::string key;
    std::uint64_t bytes = 0;
    std::string etag;  ///< As an ETag header has it.
  };
  std::vector<Object> objects;
  bool truncated = false;  ///< There is a further page, after `next`.
  std::string next;
};

/// Reads a page. kCorrupt says what is wrong with it: not whole, not a listing, lacking fields.
Result<ListPage> parse_list_page(std::string_view xml);

/// What a store says of a request that it refuses; fields that it leaves out are "".
struct Refusal {
  std::string code;
  std::string message;
  std::string region;  ///< The right one.
  std::string server_time;
};

/// Reads the body of a refusal as far as it goes; any bytes are accepted. Each field is printable
/// and at most 300 characters long.
Refusal parse_refusal(std::string_view xml);

}  // namespace forebay
