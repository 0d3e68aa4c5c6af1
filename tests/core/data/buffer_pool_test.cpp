#include "core/data/buffer_pool.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("a buffer is aligned and its padding may be written", "[core][buffer_pool]") {
  MemoryBudget budget(1 << 26);
  BufferPool pool(budget);
  for (const std::size_t bytes : {0, 1, 4095, 4096 - 64, 100'000, 1'310'720}) {
    const Buffer buffer = pool.take(bytes);
    CHECK(buffer.size() == bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
    std::memset(buffer.data(), 0xab, bytes + Buffer::kPadding);
  }
}

TEST_CASE("the budget counts held and idle buffers", "[core][buffer_pool]") {
  MemoryBudget budget(1 << 26);
  BufferPool pool(budget);
  std::size_t held = 0;
  {
    const Buffer buffer = pool.take(1'000'000);
    held = budget.used();
    CHECK(held >= 1'000'000);
    CHECK(held <= 1'125'000 + 4096);  // Rounding up may cost at most an eighth.
  }
  CHECK(budget.used() == held);
  pool.trim();
  CHECK(budget.used() == 0);
  CHECK(budget.peak() == held);
}

TEST_CASE("a buffer given back is handed out again", "[core][buffer_pool]") {
  MemoryBudget budget(1 << 26);
  BufferPool pool(budget);
  const std::byte* first = nullptr;
  {
    const Buffer buffer = pool.take(500'000);
    first = buffer.data();
  }
  const std::size_t used = budget.used();
  CHECK(pool.take(495'000).data() == first);
  CHECK(budget.used() == used);
}

TEST_CASE("idle buffers make room before the budget is passed", "[core][buffer_pool]") {
  MemoryBudget budget(1 << 20);
  BufferPool pool(budget);
  pool.take(700'000);  // Freed at once, so its memory is idle.
  const Buffer other = pool.take(400'000);
  CHECK(budget.used() <= budget.limit());
}

TEST_CASE("memory returned above a lowered limit goes to the system", "[core][buffer_pool]") {
  MemoryBudget budget(1 << 20);
  BufferPool pool(budget);
  {
    const Buffer first = pool.take(400'000);
    budget.set_limit(100'000);
  }
  CHECK(budget.used() == 0);
}

TEST_CASE("a buffer that nobody needs for long goes to the system", "[core][buffer_pool]") {
  MemoryBudget budget(1 << 26);
  BufferPool pool(budget);
  {
    const Buffer first = pool.take(400'000);
    const Buffer second = pool.take(400'000);
  }
  pool.take(90'000);
  const std::size_t all = budget.used();
  // One of the two large ones stays in use, the other one never is.
  for (std::uint64_t i = 0; i < BufferPool::kIdleTakes / 2; ++i) pool.take(400'000);
  CHECK(budget.used() == all);
  for (std::uint64_t i = 0; i < BufferPool::kIdleTakes; ++i) pool.take(400'000);
  CHECK(budget.used() >= 400'000);
  CHECK(budget.used() <= 450'000 + 4096);  // The small one is gone, too.
}

TEST_CASE("a moved buffer has one owner", "[core][buffer_pool]") {
  MemoryBudget budget(1 << 26);
  BufferPool pool(budget);
  Buffer first = pool.take(10);
  Buffer second = std::move(first);
  CHECK_FALSE(static_cast<bool>(first));  // NOLINT: what a moved-from buffer is, is promised.
  first = std::move(second);
  CHECK(static_cast<bool>(first));
}

TEST_CASE("a budget refuses bytes that do not fit and counts forced ones",
          "[core][memory_budget]") {
  MemoryBudget budget(100);
  CHECK(budget.try_take(60));
  CHECK_FALSE(budget.try_take(41));
  CHECK(budget.try_take(40));
  budget.take(30);
  CHECK(budget.used() == 130);
  budget.give(130);
  CHECK(budget.used() == 0);
  CHECK(budget.peak() == 130);
  budget.set_limit(10);
  CHECK_FALSE(budget.try_take(11));
}

}  // namespace
}  // namespace forebay
