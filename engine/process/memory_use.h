#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "core/base/descriptor.h"

namespace forebay {

/// Returns the bytes of this process that are resident now.
std::uint64_t resident_bytes();

/// Makes the C library return freed memory, then waits until at most `bytes` are resident, but not
/// longer than `most`. Returns the resident bytes at that time.
std::uint64_t await_resident(std::uint64_t bytes, std::chrono::milliseconds most);

/// Returns the largest number of resident bytes so far, as the kernel counts (VmHWM), including
/// children that have ended.
std::uint64_t peak_resident_bytes();

/// Returns the bytes that the C library keeps free for later use; they are mostly resident. Takes
/// microseconds; longer if the free memory is in many pieces.
std::uint64_t free_heap_bytes();

/// Returns the seconds of CPU that this process has used so far, in all its threads.
double process_cpu_seconds();

/// Prevents the C library from keeping freed memory in one arena per thread. Call once, before
/// threads start.
void bound_heap_arenas();

/// Reads the resident bytes of this process often: through one file that stays open. Any thread.
class ResidentGauge {
 public:
  ResidentGauge();

  /// Returns the kernel's current count (VmRSS); 0 if it is not available.
  std::uint64_t bytes() const;

 private:
  const Descriptor statm_;
};

/// Returns the second number of /proc/self/statm, in pages; 0 if it is missing.
std::uint64_t resident_pages(std::string_view statm);

}  // namespace forebay
