#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/input/store/protocol/credentials.h"
#include "actors/input/store/storage_spec.h"
#include "core/base/result.h"

namespace forebay {

/// The limits of one probe: what a store far away answers in a few seconds.
struct ProbeLimits {
  std::size_t small_requests = 32;
  std::uint64_t part_bytes = std::uint64_t{1} << 20;  ///< Of a request for bytes.
  std::size_t most_in_flight = 64;                    ///< And at most `storage.connections`.
  std::size_t rounds = 2;                             ///< Parts for each request in flight.
  std::chrono::nanoseconds most_time = std::chrono::seconds(3);  ///< Of either measurement.
  std::chrono::nanoseconds patience = std::chrono::seconds(10);  ///< And at most give_up_after.

  /// The requests that an undisturbed probe makes at most.
  std::size_t requests(const StorageSpec& storage) const;
  /// The bytes that it reads at most, listing apart.
  std::uint64_t bytes(const StorageSpec& storage) const;
};

/// What a store answered to a few requests, and how fast.
struct StoreAnswers {
  std::string path;
  std::string endpoint;     ///< `https://clicks.s3.eu-west-1.amazonaws.com`
  std::string region;       ///< "": a web server.
  std::string credentials;  ///< Where they come from, or `anonymous`; "" for a web server.
  std::uint64_t connections = 0;
  /// Why a run cannot read from it; what follows was then not asked.
  std::optional<Error> refused = {};

  bool was_listed = false;
  std::uint64_t listed = 0;  ///< Keys of the first page.
  bool has_more = false;     ///< There are further pages.
  std::optional<Error> list_refused = {};

  std::string object;  ///< Which all else is asked of; "" if there is none.
  std::uint64_t object_bytes = 0;
  bool answers_ranges = false;
  bool has_etag = false;
  std::string version_doubt;  ///< See store_stat.h.
  bool honours_if_match = false;
  std::optional<std::int64_t> clock_ahead = {};  ///< Seconds, of the store's clock.

  std::chrono::nanoseconds first_answer{0};           ///< Of a new connection.
  std::vector<std::chrono::nanoseconds> first_bytes;  ///< Of each small request, ascending.
  std::size_t in_flight = 0;                          ///< Requests of the burst at a time.
  std::uint64_t burst_bytes = 0;                      ///< After the first part.
  std::chrono::nanoseconds burst_time{0};
  std::uint64_t requests = 0;  ///< All that were made.
  std::uint64_t bytes = 0;     ///< All that came.

  /// Returns the smallest time that at least `share` of the small requests did not exceed.
  std::chrono::nanoseconds first_byte(double share) const;
  double bytes_per_second() const;
};

/// Asks the store of `path` (an object, a glob, a bucket or folder; a file of a web server) what it
/// can and how fast it is. A `path` that is no single object is listed, and the largest object of
/// the first page is asked for. `stopped` ends it early.
StoreAnswers probe_store(const std::string& path, const StorageSpec& storage,
                         const Environment& environment, const ProbeLimits& limits,
                         const std::function<bool()>& stopped);

/// Returns the seconds since 1970 of a `Date` header; nothing for any other text.
std::optional<std::int64_t> parse_http_date(const std::string& text);

}  // namespace forebay
