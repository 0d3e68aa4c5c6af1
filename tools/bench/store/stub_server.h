#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay {

/// How a StubServer answers.
struct StubOptions {
  std::string folder;       ///< Its folders are the buckets, their files the objects.
  int port = 0;             ///< 0: any.
  double latency = 0;       ///< Seconds to the first byte.
  double slow_latency = 0;  ///< The same, of `slow_share` of the requests.
  double slow_share = 0;
  double refused_share = 0;         ///< Of requests for objects, that get 503.
  double stalled_share = 0;         ///< …whose body stops half-way for ever.
  double reset_share = 0;           ///< …whose connection is reset half-way.
  double short_share = 0;           ///< …whose connection is closed half-way.
  std::uint64_t seed = 1;           ///< Of these choices.
  std::uint64_t sound_objects = 0;  ///< So many requests for objects are answered; 0: all.
  bool ends = false;       ///< With the first one after these; otherwise it denies them, by 403.
  std::string access_key;  ///< "": requests need no signature.
  std::string secret;
  std::string token;
  std::string region = "us-east-1";
  std::int64_t clock_ahead = 0;  ///< Seconds, of its clock.
  std::size_t page_keys = 1000;  ///< Keys on a page of a listing.
  bool cut_listings = false;     ///< Half of a listing is sent as if it were the whole.
  bool ignore_ranges = false;
  bool without_head = false;  ///< HEAD is refused with 405.
  bool without_etag = false;
  bool weak_etag = false;
  bool without_time = false;   ///< Of the last change.
  bool garbage = false;        ///< Answers have no head, as those of another protocol.
  bool without_total = false;  ///< A part does not tell the size of its file.
  bool ignore_if_match = false;
};

/// An HTTP/1.1 server on 127.0.0.1 that speaks as much S3 as a reader needs, from the files of a
/// folder, with the latency and the faults of a store far away. For benchmarks and tests: it trusts
/// its clients.
///
/// One thread calls run(); any may call the other functions.
class StubServer {
 public:
  static Result<std::unique_ptr<StubServer>> open(const StubOptions& options);
  ~StubServer();

  int port() const { return port_; }
  std::string address() const { return "http://127.0.0.1:" + std::to_string(port_); }
  /// Answers until stop().
  void run();
  void stop() const;
  /// Changes how later requests are answered.
  void change(const std::function<void(StubOptions&)>& change);

  /// The body of the next request for an object stops half-way for ever.
  void stall_next() { stall_next_ = true; }

  std::uint64_t requests() const { return requests_; }
  std::uint64_t most_in_flight() const { return most_in_flight_; }

 private:
  struct Connection;
  class Connections;

  explicit StubServer(const StubOptions& options) : options_(options) {}
  StubOptions options() const;

  mutable std::mutex mutex_;
  StubOptions options_;  // under mutex_
  Descriptor listening_;
  Descriptor stop_;
  int port_ = 0;
  std::atomic<bool> stall_next_{false};
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> most_in_flight_{0};
};

}  // namespace forebay
