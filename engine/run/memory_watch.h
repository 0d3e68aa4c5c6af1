#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/user_code.h"
#include "core/runtime/synchronized.h"
#include "core/runtime/ticker.h"
#include "engine/process/resident_gauge.h"
#include "engine/run/growth_attribution.h"
#include "engine/run/resident_limit.h"

namespace forebay {

/// Watches the resident memory of the process beside a run, twenty times a second and whenever a
/// thread enters or leaves a user's function, and fails the run that outgrows its limit.
///
/// Attributes growth to functions from its construction on, which therefore comes before anything
/// that calls them; compares with the limit between watch() and stop(), by a thread of its own. On
/// large machines not every call is looked at, but some hundreds a second, drawn at random.
class MemoryWatch final : public UserCodeObserver {
 public:
  struct Options {
    const char* key = "pipeline.memory";   ///< The limit's name, for messages.
    std::function<std::uint64_t()> limit;  ///< In bytes, now; any thread, as the one below.
    /// Called once, with what is wrong; need not end the process.
    std::function<void(const std::string&)> fail;
  };

  /// `accounted`: what was taken before the run, its slack and all buffers, in bytes; called from
  /// any thread until the destructor returns.
  explicit MemoryWatch(std::function<std::uint64_t()> accounted);
  ~MemoryWatch() override;

  /// Begins to compare. Only while it does not.
  void watch(Options options);
  /// Once it returns, nothing of the options is called any more.
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
  Options options_;  // the ticker's thread's between watch() and stop(), as the two below
  ResidentLimit limit_;
  bool failed_ = false;
  std::atomic<unsigned> sampling_{0};  // of 2^this calls one is looked at
  const Synchronized<> attributing_;   // over the two below
  GrowthAttribution growth_;
  std::uint64_t looks_ = 0;  // at calls, since the ticker's last one
  std::optional<Ticker> ticker_;
};

/// The message of a run that outgrew its limit: the sizes, the functions that are loaded and, where
/// one is `likely`, that one.
std::string describe_growth(const char* key, std::uint64_t resident, std::uint64_t limit,
                            const std::string& loaded, const std::string& likely);

}  // namespace forebay
