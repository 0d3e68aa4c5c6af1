#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "core/base/descriptor.h"

namespace forebay {

/// The cost of serving one message, or the sum over many.
struct Service {
  std::chrono::nanoseconds time{0};   ///< Inside `on`, without waits for output.
  std::chrono::nanoseconds cpu{0};    ///< The part of `time` on a CPU.
  std::chrono::nanoseconds ready{0};  ///< The part waiting for a CPU: the kernel's run delay.
  double squared_seconds = 0;         ///< (time − ready)², summed.
  std::uint64_t actors = 0;           ///< Sum over messages of the actors alive when each began.

  Service& operator+=(const Service& other);
  bool operator==(const Service&) const = default;
};

/// Measures the cost of each message on the thread that serves it.
///
/// Created and used on that thread; owns a descriptor of /proc/thread-self/schedstat. `ready` is 0
/// on a kernel without run delays. Costs about 1 µs per message, and twice that if the thread slept
/// before it.
class ServiceMeter {
 public:
  using Time = std::chrono::nanoseconds;

  ServiceMeter();

  /// Starts a message. `slept`: the thread slept since the last message ended.
  void start(Time now, std::size_t actors, bool slept);
  /// The two below exclude a wait for output.
  void pause(Time now);
  void resume(Time now);
  /// Ends the message and returns its cost.
  Service finish(Time now);

 private:
  struct Reading {
    Time cpu{0};
    Time ready{0};
  };
  Reading read() const;
  void add(Time now);

  const Descriptor schedstat_;
  Reading last_;
  Time began_{0};
  Service service_;
};

}  // namespace forebay
