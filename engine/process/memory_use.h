#pragma once

#include <chrono>
#include <cstdint>

namespace forebay {

/// Resident bytes of this process now.
std::uint64_t resident_bytes();

/// Waits until no more than `bytes` are resident, at most so long; what is then. Has the C library
/// give back what was freed.
std::uint64_t await_resident(std::uint64_t bytes, std::chrono::milliseconds most);

/// The largest number of resident bytes so far, as the kernel counts (VmHWM), children that have
/// ended included.
std::uint64_t peak_resident_bytes();

/// Bytes that the C library keeps free for later use, mostly resident. Takes microseconds, more the
/// more pieces they are in.
std::uint64_t free_heap_bytes();

/// Seconds of CPU that this process has used so far, in all its threads.
double process_cpu_seconds();

/// Keeps the C library from holding on to freed memory in an arena a thread. Call once, before
/// threads start.
void bound_heap_arenas();

}  // namespace forebay
