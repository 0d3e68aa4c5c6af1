#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace forebay {

/// Decides whether a process has outgrown `pipeline.memory`.
///
/// Asked many times a second with what the kernel counts; time comes from outside. Over the limit
/// is what stays there for kConfirm, so a peak that is given back at once fails nothing. While a
/// limit that was lowered in the run is not reached yet, what the account explains may stay: the
/// buffers that were made before, and what was resident beside the account at that moment. Belongs
/// to one thread.
class ResidentLimit {
 public:
  static constexpr std::chrono::milliseconds kConfirm{200};

  struct Look {
    std::chrono::nanoseconds at{0};
    std::uint64_t resident = 0;   ///< By the kernel.
    std::uint64_t limit = 0;      ///< Now.
    std::uint64_t accounted = 0;  ///< Known: taken before the run, its slack, all buffers.
  };
  /// kSuspect once at each crossing: the moment to give back what was freed.
  enum class Verdict : std::uint8_t { kWithin, kSuspect, kOver };

  Verdict look(const Look& now);

 private:
  std::uint64_t allowed(const Look& now);

  std::uint64_t limit_ = 0;                        // at the last look
  std::optional<std::uint64_t> beside_;            // while a lowered limit is not reached
  std::optional<std::chrono::nanoseconds> since_;  // over it
};

}  // namespace forebay
