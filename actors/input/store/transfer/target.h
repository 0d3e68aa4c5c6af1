#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <string>

#include "actors/input/store/protocol/sigv4.h"
#include "actors/input/store/protocol/url.h"

namespace forebay {

/// Where a request goes. A value; its functions may be called by any thread.
struct Target {
  std::string path;  ///< For messages.
  Url url;
  std::string region;  ///< Of an S3 store, for messages; "" for any other server.
  /// Returns all headers to send for a request with these; empty: these alone.
  std::function<Headers(const std::string& method, const Url& url, Headers headers,
                        std::time_t now)>
      sign = {};

  bool is_s3() const { return !region.empty(); }
};

/// One version of a stored file, as its server describes it.
struct StoredVersion {
  std::uint64_t bytes = 0;
  std::string etag;           ///< "": the server has none.
  std::string last_modified;  ///< "": the server has none.

  /// Whether ranges may ask for this ETag by If-Match, which compares only strong ones.
  bool has_strong_etag() const { return !etag.empty() && !etag.starts_with("W/"); }
};

}  // namespace forebay
