#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "core/base/clock.h"
#include "core/base/open_files.h"
#include "tools/doctor/system_checks.h"

namespace forebay {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
constexpr double kMostSeconds = 0.5;
constexpr int kReadings = 1000;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

std::chrono::nanoseconds time_of_a_reading() {
  const SystemClock clock;
  const auto began = clock.now();
  for (int i = 0; i < kReadings; ++i) static_cast<void>(clock.now());
  return (clock.now() - began) / kReadings;
}

}  // namespace

std::vector<Finding> check_system(const SystemNeeds& needs) {
  std::vector<Finding> findings{check_numa("")};
  std::ranges::move(check_cgroups(""), std::back_inserter(findings));
  findings.push_back(check_huge_pages("", needs));
  std::ranges::move(check_limits("", needs), std::back_inserter(findings));
  findings.push_back(check_clock_source("", time_of_a_reading()));
  findings.push_back(check_network("", needs));
  return findings;
}

// O_DIRECT reads go past the cache, so they neither use it nor drop what others have in it.
Result<DiskSpeed> measure_disk(const std::string& path) {
  const Descriptor file(open_file(path, O_RDONLY | O_DIRECT));
  const std::unique_ptr<void, Free> memory(std::aligned_alloc(4096, kPiece));
  if (!file || memory == nullptr) {
    return fail(Code::kUnavailable, "not measured: " + path + " cannot be read past the cache (" +
                                        system_words(errno) + ")");
  }
  const SystemClock clock;
  const auto began = clock.now();
  DiskSpeed speed;
  while (speed.bytes < kMostBytes && speed.seconds < kMostSeconds) {
    const ssize_t got =
        ::pread(file.number(), memory.get(), kPiece, static_cast<off_t>(speed.bytes));
    if (got <= 0) break;
    speed.bytes += static_cast<std::uint64_t>(got);
    speed.seconds = in_seconds(clock.now() - began);
  }
  return speed;
}

}  // namespace forebay
