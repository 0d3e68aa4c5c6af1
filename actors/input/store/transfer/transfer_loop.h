#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <curl/curl.h>

#include "actors/input/store/transfer/easy_handle.h"
#include "actors/input/store/transfer/fetch.h"
#include "actors/input/store/transfer/pace.h"
#include "core/base/clock.h"
#include "core/base/descriptor.h"
#include "core/base/random.h"
#include "core/base/result.h"

namespace forebay {

/// The limits of a TransferLoop.
struct TransferOptions {
  std::size_t connections = 64;
  std::chrono::nanoseconds timeout = std::chrono::seconds(10);
  std::chrono::nanoseconds give_up_after = std::chrono::minutes(2);
  std::string ca_bundle = {};  ///< A file of certificates that https trusts; "": the system's.
  std::function<void(std::size_t requests, std::size_t bytes)> count = {};
  /// Tells a person, once a trouble, that a store does not answer and is waited for.
  std::function<void(const std::string&)> announce = {};
};

/// Gets Fetches from stores, many at a time, by one thread that calls turn() again and again.
///
/// Keeps connections open, repeats what failed for a passing reason after a growing random time,
/// hedges requests that wait unusually long, and fails what brought no byte for too long.
/// Belongs to that thread; wake() may be called by any.
class TransferLoop {
 public:
  TransferLoop(const TransferOptions& options, const Clock& clock);
  ~TransferLoop();
  TransferLoop(const TransferLoop&) = delete;
  TransferLoop& operator=(const TransferLoop&) = delete;

  void add(std::unique_ptr<Fetch> fetch);
  /// Drops all fetches for which `drop` returns true, without a call of `done`.
  void drop(const std::function<bool(Fetch&)>& drop);
  /// Calls `visit` with each fetch.
  void for_each(const std::function<void(Fetch&)>& visit);
  /// Waits for something to do, `most` at most, and does it. Does not wait if `most` is over, which
  /// a time computed from an earlier look at the clock may be.
  void turn(std::chrono::nanoseconds most);
  /// Ends the wait of turn().
  void wake() const;

 private:
  using Time = std::chrono::nanoseconds;
  struct Running {
    std::unique_ptr<EasyHandle> easy;
    Fetch* fetch = nullptr;
    Fetch::Attempt attempt;
  };
  using Slot = std::list<Running>::iterator;
  /// Why an attempt failed, and what a person can do if all others do so too: `; check ...`.
  struct Trouble {
    std::string what;
    std::string advice = "; run again when the store answers";
  };

  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* self, void* known);
  static int on_timer(CURLM* multi, long milliseconds, void* self);

  void start_waiting(Time now);
  void start(Fetch& fetch, Time now);
  void take_ends();
  void ended(Slot running, CURLcode code, Time now);
  void refused(Fetch& fetch, Fetch::Attempt attempt, Time now);
  void stop(Slot running);
  void stop_all_of(const Fetch& fetch);
  void watch(Time now);
  void watch_one(Slot running, Time now);
  void again(Fetch& fetch, const Trouble& trouble, Time now);
  tl::unexpected<Error> given_up(const Fetch& fetch, const Trouble& trouble, Time silence) const;
  void finish(Fetch& fetch, Result<Reply> result);
  Time next_due(Time now) const;
  int socket_action(curl_socket_t socket, int events);

  const TransferOptions options_;
  const Clock& clock_;
  Random random_;
  HedgeRule hedges_;
  Descriptor epoll_;
  Descriptor wake_;
  std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> multi_;
  std::list<std::unique_ptr<Fetch>> fetches_;
  std::deque<Fetch*> waiting_;  // for a free connection or their time
  std::list<Running> running_;
  std::vector<std::unique_ptr<EasyHandle>> idle_;
  std::optional<Time> curl_due_;  // when libcurl wants to be called
  Time last_watch_{0};
  bool announced_ = false;
};

}  // namespace forebay
