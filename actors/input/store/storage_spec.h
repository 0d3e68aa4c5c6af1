#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace forebay {

/// What the client holds for each request in flight, beside the bytes' own memory.
inline constexpr std::uint64_t kRequestBytes = 512 << 10;

/// `[storage]` of the job file: how remote stores are reached. Holds no secret.
struct StorageSpec {
  std::string endpoint;             ///< "": AWS_ENDPOINT_URL, else AWS's own for the region.
  std::string region;               ///< "": AWS_REGION, else the profile's, else us-east-1.
  std::string credentials = "env";  ///< env | profile:NAME | anonymous
  std::uint64_t connections = 64;   ///< The most requests in flight.
  std::chrono::nanoseconds timeout = std::chrono::seconds(10);  ///< Without progress.
  /// How long a request is repeated without a byte before the run fails.
  std::chrono::nanoseconds give_up_after = std::chrono::minutes(2);
  double request_price = 0.0004;  ///< Dollars for 1,000 requests: a GET of S3.
  double byte_price = 0;          ///< Dollars for a GB that comes: inside a region nothing.
};

}  // namespace forebay
