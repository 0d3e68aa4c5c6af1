#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace forebay {

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

}  // namespace forebay
