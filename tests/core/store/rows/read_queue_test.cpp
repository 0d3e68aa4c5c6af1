#include "core/store/rows/read_queue.h"

#include <fcntl.h>

#include <cerrno>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/descriptor.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 250;

/// A file whose pages hold their numbers, in each byte.
struct NumberedPages {
  explicit NumberedPages(const test::TempDir& dir) {
    std::string content;
    for (std::size_t page = 0; page < kPages; ++page) {
      content.append(kPage, static_cast<char>(page));
    }
    file = Descriptor(open(dir.write("pages", content).c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE(file);
  }
  PageLocation page(std::size_t number) const { return {file.number(), number * kPage}; }

  Descriptor file;
};

/// The result of each read: the number of bytes, or -errno; and the first and last byte.
struct PageRead {
  int times = 0;
  std::int64_t read = 0;
  int first = 0, last = 0;
};

std::vector<PageRead> read_all(ReadQueue::Way way, const std::vector<PageLocation>& places) {
  ReadQueue queue(kPage, way);
  std::vector<PageRead> all(places.size());
  std::mutex mutex;
  queue.read(places, [&](std::size_t index, std::int64_t read, const char* page) {
    const std::lock_guard lock(mutex);
    all[index] = {all[index].times + 1, read, static_cast<unsigned char>(page[0]),
                  static_cast<unsigned char>(page[kPage - 1])};
  });
  return all;
}

}  // namespace

TEST_CASE("pages are read from all over a file, each once, more than are under way at a time",
          "[store]") {
  const test::TempDir dir;
  const NumberedPages pages(dir);
  const auto way = GENERATE(ReadQueue::Way::kBest, ReadQueue::Way::kThreads);
  std::vector<PageLocation> places;
  for (std::size_t i = 0; i < 5 * ReadQueue::kDepth + 3; ++i) {
    places.push_back(pages.page(i * 97 % kPages));
  }
  const auto came = read_all(way, places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    CHECK(came[i].times == 1);
    CHECK(came[i].read == kPage);
    CHECK(came[i].first == static_cast<int>(i * 97 % kPages));
    CHECK(came[i].last == came[i].first);
  }
  CHECK(read_all(way, {}).empty());
}

TEST_CASE("each page that cannot be read has its own error", "[store]") {
  const test::TempDir dir;
  const NumberedPages pages(dir);
  const auto way = GENERATE(ReadQueue::Way::kBest, ReadQueue::Way::kThreads);
  const auto came = read_all(way, {pages.page(3), {-1, 0}, pages.page(kPages), pages.page(4)});
  CHECK(came[0].first == 3);
  CHECK(came[1].read == -EBADF);
  CHECK(came[2].read == 0);  // Beyond the end.
  CHECK(came[3].first == 4);
}
