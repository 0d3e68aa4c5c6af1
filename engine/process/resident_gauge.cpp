#include "engine/process/resident_gauge.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>

namespace forebay {

ResidentGauge::ResidentGauge() : statm_(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {}

std::uint64_t ResidentGauge::bytes() const {
  std::array<char, 128> text{};
  const ssize_t size = ::pread(statm_.number(), text.data(), text.size(), 0);
  if (size <= 0) return 0;
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return resident_pages({text.data(), static_cast<std::size_t>(size)}) * page;
}

std::uint64_t resident_pages(std::string_view statm) {
  const std::size_t space = statm.find(' ');
  if (space == std::string_view::npos) return 0;
  std::uint64_t pages = 0;
  std::from_chars(statm.data() + space + 1, statm.data() + statm.size(), pages);
  return pages;
}

}  // namespace forebay
