/// Forebay's actors in tests: no threads, no clock, and an order that a seed draws.
///
/// A TestSystem runs one message at a time, of an actor that the seed picks among those that have
/// one. So a test meets orders that threads meet once in a million runs, and meets them again with
/// the same seed:
///
///   const auto seed = forebay::actors::first_failing_seed(1000, [](std::uint64_t seed) {
///     forebay::actors::TestSystem system(seed);
///     const auto counter = system.spawn<Counter>({.name = "counter"});
///     …
///     return *system.wait(counter.ask(Total{}, std::chrono::seconds(1))) == 2;
///   });
///   if (seed) std::printf("fails with seed %ju\n", std::uintmax_t{*seed});
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <forebay/actor.h>

namespace forebay::actors {

/// Actors without threads, in simulated time. Belongs to one thread.
class TestSystem final {
 public:
  explicit TestSystem(std::uint64_t seed);
  TestSystem(TestSystem&&) noexcept;
  TestSystem& operator=(TestSystem&&) noexcept;
  ~TestSystem();

  /// Starts an actor, as System::spawn does.
  template <class A, class... Args>
  typename A::Ref spawn(const SpawnOptions& options, Args... args) {
    return spawn_at<A>(host(), options, std::move(args)...);
  }

  /// Makes an object, as System::put does.
  template <class T>
  auto put(T value) {
    return put_at(host().objects(), std::move(value));
  }

  /// Lets an actor that the seed draws handle one message; false if no actor has one.
  bool step();
  /// Steps until no message is left; returns how many there were.
  std::size_t run();
  /// Moves the time on and fires what is due; delivers no message.
  void advance(std::chrono::nanoseconds by);

  /// Runs, and lets time pass up to the next timer again and again, until the answer is there.
  /// kTimeout: neither message nor timer is left.
  template <class T>
  Result<T> wait(const Future<T>& future) {
    while (!future.ready()) {
      if (!step() && !advance_to_timer()) {
        return Error{Code::kTimeout, "no actor has a message, and no timer runs"};
      }
    }
    return future.wait();
  }

  /// Errors of handlers that no asker waited for.
  const std::vector<Error>& unheard() const;
  Host& host();

 private:
  bool advance_to_timer();

  class Running;
  std::unique_ptr<Running> running_;
};

/// The first of the seeds 1 to `seeds` for which `holds` is false.
inline std::optional<std::uint64_t> first_failing_seed(
    std::uint64_t seeds, const std::function<bool(std::uint64_t seed)>& holds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    if (!holds(seed)) return seed;
  }
  return std::nullopt;
}

}  // namespace forebay::actors
