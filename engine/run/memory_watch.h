#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/background_worker.h"
#include "core/base/clock.h"
#include "core/base/user_code.h"
#include "core/runtime/synchronized.h"
#include "engine/process/memory_use.h"
#include "engine/run/growth_attribution.h"
#include "engine/run/resident_limit.h"

namespace forebay {

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
  explicit MemoryWatch(std::function<std::uint64_t()> accounted);
  ~MemoryWatch() override;

  /// Starts to compare. Must not be called while it compares already.
  void watch(Options options);
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
  const ResidentGauge gauge_;
  const SystemClock clock_;
  Options options_;  // used on the ticker's thread between watch() and stop(), like the two below
  ResidentLimit limit_;
  bool failed_ = false;
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
