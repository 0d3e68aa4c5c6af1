#include "tools/bench/disk_pages.h"

#include <fcntl.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "core/base/open_files.h"
#include "core/base/random.h"
#include "core/base/seconds.h"
#include "core/store/rows/read_queue.h"

namespace forebay {
namespace {

constexpr std::chrono::nanoseconds kLasts = std::chrono::seconds(2);
constexpr std::size_t kAtOnce = 4096;  // Pages between two readings of the clock.

struct File {
  Descriptor descriptor;
  std::uint64_t pages = 0;
};

std::vector<File> files_in(const std::string& folder) {
  std::vector<File> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::uint64_t pages = entry.is_regular_file() ? entry.file_size() / kDirectPage : 0;
    if (pages > 0) files.push_back({open_direct(entry.path().string(), O_RDONLY), pages});
  }
  return files;
}

}  // namespace

std::uint64_t disk_pages_read() {
  std::ifstream file("/proc/self/io");
  std::string name;
  std::uint64_t bytes = 0;
  while (file >> name >> bytes && name != "read_bytes:") {
  }
  return bytes / kDirectPage;
}

Result<double> random_pages_per_second(const std::string& folder, const Clock& clock) {
  const std::vector<File> files = files_in(folder);
  if (files.empty()) return fail(Code::kNotFound, folder + " holds no file of a page");
  ReadQueue queue(kDirectPage);
  Random random(1);
  std::uint64_t pages = 0;
  const auto begin = clock.now();
  auto lasted = clock.now() - begin;
  for (; lasted < kLasts; lasted = clock.now() - begin) {
    std::vector<PageLocation> places(kAtOnce);
    for (PageLocation& place : places) {
      const File& file = files[random.below(files.size())];
      place = {file.descriptor.number(), random.below(file.pages) * kDirectPage};
    }
    queue.read(places, [&](std::size_t, std::int64_t read, char*) { pages += read > 0 ? 1 : 0; });
  }
  return static_cast<double>(pages) / in_seconds(lasted);
}

}  // namespace forebay
