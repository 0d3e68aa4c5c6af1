#include <thread>
#include <vector>

#include "core/data/buffer_pool.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("a budget refuses bytes that do not fit and does not count them",
          "[core][memory_budget]") {
  MemoryBudget budget(100);
  CHECK(budget.try_take(60));
  CHECK_FALSE(budget.try_take(41));  // 60 + 41 = 101 > 100
  CHECK(budget.used() == 60);
  CHECK(budget.try_take(40));
  CHECK(budget.used() == 100);
}

TEST_CASE("memory taken without asking is counted even beyond the budget's limit",
          "[core][memory_budget]") {
  MemoryBudget budget(100);
  budget.take(130);
  CHECK(budget.used() == 130);
  CHECK_FALSE(budget.try_take(1));
}

TEST_CASE("a budget remembers its peak when memory is given back", "[core][memory_budget]") {
  MemoryBudget budget(100);
  budget.take(70);
  budget.give(50);
  budget.take(10);
  CHECK(budget.used() == 30);
  CHECK(budget.peak() == 70);
}

TEST_CASE("a budget's limit moves while it is in use", "[core][memory_budget]") {
  MemoryBudget budget(100);
  REQUIRE(budget.try_take(80));
  budget.set_limit(70);
  CHECK_FALSE(budget.try_take(1));
  budget.give(20);
  CHECK(budget.try_take(10));  // 60 + 10 = 70
}

TEST_CASE("a budget stays exact and within its limit under many threads", "[core][memory_budget]") {
  MemoryBudget budget(10);
  std::vector<std::thread> takers;
  for (int i = 0; i < 4; ++i) {
    takers.emplace_back([&budget] {
      for (int round = 0; round < 10000; ++round) {
        if (budget.try_take(3)) budget.give(3);
      }
    });
  }
  for (std::thread& taker : takers) taker.join();
  CHECK(budget.used() == 0);
  CHECK(budget.peak() <= 9);  // At most three of the four threads: a fourth would make it 12.
}

}  // namespace
}  // namespace forebay
