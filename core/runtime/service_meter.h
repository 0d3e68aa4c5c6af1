#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace forebay {

/// What one message's service took, or the sum over many.
struct Service {
  std::chrono::nanoseconds time{0};   ///< Inside `on`, waits for output taken off.
  std::chrono::nanoseconds cpu{0};    ///< Of it, on a CPU.
  std::chrono::nanoseconds ready{0};  ///< Of it, wanting a CPU: the kernel's run delay.
  double squared_seconds = 0;         ///< (time − ready)², summed.
  std::uint64_t actors = 0;           ///< Actors alive when it began, summed.

  Service& operator+=(const Service& other);
  bool operator==(const Service&) const = default;
};

/// Measures what each message costs the thread that serves it.
///
/// Made and used on that thread; owns one descriptor, on /proc/thread-self/schedstat. Where the
/// kernel keeps no run delay, `ready` is 0. Costs about a microsecond a message, twice that when
/// the thread slept before it.
class ServiceMeter {
 public:
  using Time = std::chrono::nanoseconds;

  ServiceMeter();
  ~ServiceMeter();
  ServiceMeter(const ServiceMeter&) = delete;
  ServiceMeter& operator=(const ServiceMeter&) = delete;

  /// A message begins. `slept`: the thread slept since the last one ended.
  void start(Time now, std::size_t actors, bool slept);
  /// It waits for output, and goes on.
  void pause(Time now);
  void resume(Time now);
  /// It is done; what it took.
  Service finish(Time now);

 private:
  struct Reading {
    Time cpu{0};
    Time ready{0};
  };
  Reading read() const;
  void add(Time now);

  const int schedstat_;
  Reading last_;
  Time began_{0};
  Service service_;
};

}  // namespace forebay
