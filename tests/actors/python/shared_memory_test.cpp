#include "actors/python/shared_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("shared memory keeps its content as it grows", "[actors][python]") {
  auto memory = SharedMemory::create();
  REQUIRE(memory);
  REQUIRE(memory->reserve(100));
  memory->bytes()[99] = std::byte{7};
  const std::size_t before = memory->bytes().size();
  REQUIRE(memory->reserve(before + 1));
  CHECK(memory->bytes().size() > before);
  CHECK(memory->bytes()[99] == std::byte{7});
  const SharedMemory moved = std::move(*memory);
  CHECK(moved.bytes()[99] == std::byte{7});
}

TEST_CASE("nobody can shrink shared memory under another's feet", "[actors][python]") {
  auto memory = SharedMemory::create();
  REQUIRE(memory);
  REQUIRE(memory->reserve(5000));
  CHECK(::ftruncate(memory->descriptor(), 0) != 0);
  memory->bytes()[4999] = std::byte{1};
}

TEST_CASE("another mapping of shared memory sees the same bytes", "[actors][python]") {
  auto memory = SharedMemory::create();
  REQUIRE(memory);
  REQUIRE(memory->reserve(10));
  const std::size_t size = memory->bytes().size();
  void* const other =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory->descriptor(), 0);
  REQUIRE(other != MAP_FAILED);
  static_cast<std::byte*>(other)[5] = std::byte{9};
  CHECK(memory->bytes()[5] == std::byte{9});
  ::munmap(other, size);
}

}  // namespace
}  // namespace forebay
