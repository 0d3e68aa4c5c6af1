#include "engine/process/memory_use.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

#include <malloc.h>

#include "core/base/clock.h"
#include "core/base/text/number.h"
#include "engine/process/machine.h"

namespace forebay {
namespace {

std::uint64_t status_bytes(const char* key) {
  return proc_bytes(proc_text("/proc/self/status"), key).value_or(0);
}

}  // namespace

std::uint64_t resident_bytes() { return status_bytes("VmRSS"); }

// The kernel sends no notification when this number changes, so it is polled.
std::uint64_t await_resident(std::uint64_t bytes, std::chrono::milliseconds most) {
  constexpr std::chrono::milliseconds kBetween{50};
  std::uint64_t resident = resident_bytes();
  for (auto waited = std::chrono::milliseconds(0); resident > bytes && waited < most;
       waited += kBetween) {
    std::this_thread::sleep_for(kBetween);
    ::malloc_trim(0);
    resident = resident_bytes();
  }
  return resident;
}

std::uint64_t peak_resident_bytes() {
  rusage children = {};
  ::getrusage(RUSAGE_CHILDREN, &children);
  return std::max(status_bytes("VmHWM"), static_cast<std::uint64_t>(children.ru_maxrss) * 1024);
}

std::uint64_t free_heap_bytes() { return ::mallinfo2().fordblks; }

double process_cpu_seconds() {
  return in_seconds(thread_cpu_time(CLOCK_PROCESS_CPUTIME_ID));  // of all its threads
}

// Received messages, some hundred KiB a split, must not be a new mapping each time: fresh pages
// cost the trainer's node 100 ns a row, as much as all its other work for a row.
void bound_heap_arenas() {
  ::mallopt(M_ARENA_MAX, 2);
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 8 << 20);
}

ResidentGauge::ResidentGauge() : statm_(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {}

std::uint64_t ResidentGauge::bytes() const {
  std::array<char, 128> text{};
  const ssize_t size = ::pread(statm_.number(), text.data(), text.size(), 0);
  if (size <= 0) return 0;
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return resident_pages({text.data(), static_cast<std::size_t>(size)}) * page;
}

std::uint64_t resident_pages(std::string_view statm) { return second_number(statm).value_or(0); }

}  // namespace forebay
