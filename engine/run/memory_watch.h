#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/thread/user_code.h"
#include "core/runtime/synchronized.h"
#include "core/runtime/ticker.h"
#include "engine/process/memory_use.h"

namespace forebay {

/// Estimates which functions' calls make memory grow, from the times at which calls begin and end
/// and the resident bytes at these times.
///
/// Model: each function, and everything outside of functions, grows memory at a constant rate per
/// thread in it; noise grows with time. The rates are the least-squares fit over all intervals
/// between two events, so overlapping calls and calls that always follow one another are separated;
/// the rate of everything else is fitted as if it had been 0 for one second before. Needs memory
/// for the square of the number of functions. Pure state: time comes from outside; callers
/// serialise access.
class GrowthAttribution {
 public:
  using Time = std::chrono::nanoseconds;

  /// A thread enters or leaves function `number` (small numbers, counted from 0) while `bytes` are
  /// resident. Each enter needs a leave. Times never decrease.
  void enter(std::size_t number, Time at, std::int64_t bytes);
  void leave(std::size_t number, Time at, std::int64_t bytes);
  /// Records that `bytes` are resident, between two calls or during one.
  void note(Time at, std::int64_t bytes);

  /// Returns the estimated growth during the calls of each function, in bytes; may be negative.
  std::vector<double> growth() const;
  /// Returns the function with the largest growth; nullopt if no function's growth is positive.
  std::optional<std::size_t> likely() const;

 private:
  void make_room(std::size_t number);
  std::size_t size() const { return threads_.size(); }
  double& overlap(std::size_t a, std::size_t b) { return overlaps_[a * size() + b]; }

  // Number 0 is everything else and is always active; functions follow.
  std::vector<double> threads_{1};   // active now
  std::vector<double> seen_{0};      // sums of threads × growth
  std::vector<double> overlaps_{0};  // a × b: integrals of threads of a × threads of b, in seconds
  std::optional<Time> at_;
  std::int64_t bytes_ = 0;
};

/// Decides whether a process has exceeded `pipeline.memory`.
///
/// Called many times a second with the kernel's figure; time comes from outside. Memory counts as
/// over the limit only if it stays there for kConfirm, so a short peak fails nothing. After the
/// limit was lowered during the run and until it is reached, memory that the account explains may
/// stay: buffers made before, and the memory that was resident beside the account at that moment.
/// Belongs to one thread.
class ResidentLimit {
 public:
  static constexpr std::chrono::milliseconds kConfirm{200};

  struct Look {
    std::chrono::nanoseconds at{0};
    std::uint64_t resident = 0;   ///< As counted by the kernel.
    std::uint64_t limit = 0;      ///< The current limit.
    std::uint64_t accounted = 0;  ///< Known bytes: used before the run, its slack, all buffers.
  };
  /// kSuspect is returned once at each crossing of the limit; the caller should then return freed
  /// memory to the system.
  enum class Verdict : std::uint8_t { kWithin, kSuspect, kOver };

  Verdict look(const Look& now);

 private:
  std::uint64_t allowed(const Look& now);

  std::uint64_t limit_ = 0;                        // at the last look
  std::optional<std::uint64_t> beside_;            // set until a lowered limit is reached
  std::optional<std::chrono::nanoseconds> since_;  // since when it is over the limit
};

/// Watches the resident memory of the process during a run, twenty times a second and whenever a
/// thread enters or leaves a user's function, and fails the run if it exceeds its limit.
///
/// Attributes growth to functions from its construction on, so construct it before anything that
/// calls them. Compares with the limit between watch() and stop(), on its own thread. On large
/// machines it samples some hundred calls a second at random.
class MemoryWatch final : public UserCodeObserver {
 public:
  struct Options {
    const char* key = "pipeline.memory";  ///< The limit's name in messages.
    /// Returns bytes; called on any thread, like the one below.
    std::function<std::uint64_t()> limit;
    /// Called once with a description of the problem; need not end the process.
    std::function<void(const std::string&)> fail;
  };

  /// `accounted`: returns the bytes used before the run, its slack and all buffers; called on any
  /// thread until the destructor returns.
  /// `children` (may be empty): returns the resident bytes of child processes, which count, too.
  explicit MemoryWatch(std::function<std::uint64_t()> accounted,
                       std::function<std::uint64_t()> children = {});
  ~MemoryWatch() override;

  /// Starts to compare. Must not be called while it compares already.
  void watch(Options options);
  /// Returns the largest sum of the children's resident bytes that it has seen. Any thread.
  std::uint64_t peak_of_children() const { return peak_of_children_; }

  /// Ends the comparison. No function of the options is called after it returns.
  void stop();

  bool entered(const UserCode& code) override;
  void left(const UserCode& code) override;

 private:
  void look();
  void settle_sampling();
  std::int64_t beside_the_account() const;
  std::string describe(std::uint64_t resident, std::uint64_t limit) const;

  const std::function<std::uint64_t()> accounted_;
  const std::function<std::uint64_t()> children_;
  const ResidentGauge gauge_;
  const SystemClock clock_;
  Options options_;  // used on the ticker's thread between watch() and stop(), like the two below
  ResidentLimit limit_;
  bool failed_ = false;
  std::atomic<std::uint64_t> peak_of_children_{0};
  std::atomic<unsigned> sampling_{0};  // one of 2^sampling_ calls is sampled
  const Synchronized<> attributing_;   // guards the two below
  GrowthAttribution growth_;
  std::uint64_t looks_ = 0;  // sampled calls since the ticker's last look
  std::optional<Ticker> ticker_;
};

/// Returns the message of a run that exceeded its limit: the sizes, the loaded functions, and the
/// `likely` function if it is not "".
std::string describe_growth(const char* key, std::uint64_t resident, std::uint64_t limit,
                            const std::string& loaded, const std::string& likely);

}  // namespace forebay
