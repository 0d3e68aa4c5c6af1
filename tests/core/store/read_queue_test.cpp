#include "core/store/read_queue.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 300;

/// A file whose pages hold their numbers, in each byte.
class NumberedPages {
 public:
  explicit NumberedPages(const test::TempDir& dir) {
    std::string content;
    for (std::size_t page = 0; page < kPages; ++page) {
      content.append(kPage, static_cast<char>(page));
    }
    dir.write("pages", content);
    file_ = open(dir.path("pages").c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(file_ >= 0);
  }
  ~NumberedPages() { close(file_); }
  NumberedPages(const NumberedPages&) = delete;
  NumberedPages& operator=(const NumberedPages&) = delete;
  int file() const { return file_; }

 private:
  int file_;
};

/// Pieces of a page each, from `first` on, with the memory they are read to.
struct Pieces {
  Pieces(std::size_t first, std::size_t count, std::size_t stride = 1)
      : memory(static_cast<char*>(std::aligned_alloc(kPage, count * kPage)), &std::free),
        list(count) {
    for (std::size_t i = 0; i < count; ++i) {
      list[i] = {(first + i * stride) * kPage, kPage, memory.get() + i * kPage};
    }
  }

  std::unique_ptr<char, void (*)(void*)> memory;
  std::vector<FilePiece> list;
};

bool came(const Pieces& pieces) {
  for (const FilePiece& piece : pieces.list) {
    const char want = static_cast<char>(piece.offset / kPage);
    if (piece.read != kPage || piece.to[0] != want || piece.to[kPage - 1] != want) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("pieces of a file are read together, more than fit into a queue", "[store]") {
  const test::TempDir dir;
  const NumberedPages pages(dir);
  Pieces pieces(0, 3 * ReadQueue::kMost / 2, 2);
  ReadQueues queues;
  queues.read(pages.file(), pieces.list);
  CHECK(came(pieces));
}

TEST_CASE("a piece across the end of a file is as long as what is there", "[store]") {
  const test::TempDir dir;
  const NumberedPages pages(dir);
  Pieces pieces(kPages - 1, 3);
  ReadQueues queues;
  queues.read(pages.file(), pieces.list);
  CHECK(pieces.list[0].read == kPage);
  CHECK(pieces.list[1].read == 0);
  CHECK(pieces.list[2].read == 0);
}

TEST_CASE("what cannot be read says why, each piece for itself", "[store]") {
  const test::TempDir dir;
  Pieces pieces(0, 3);
  ReadQueues queues;
  queues.read(-1, pieces.list);
  for (const FilePiece& piece : pieces.list) CHECK(piece.read == -EBADF);
}

TEST_CASE("threads read at once, each with a queue of its own", "[store]") {
  const test::TempDir dir;
  const NumberedPages pages(dir);
  ReadQueues queues;
  std::vector<Pieces> all;
  for (std::size_t i = 0; i < 6; ++i) all.emplace_back(i, 40, 7);
  {
    std::vector<std::jthread> threads;
    for (Pieces& pieces : all) {
      threads.emplace_back([&] {
        for (int round = 0; round < 20; ++round) queues.read(pages.file(), pieces.list);
      });
    }
  }
  for (const Pieces& pieces : all) CHECK(came(pieces));
}
