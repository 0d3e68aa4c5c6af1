#include "tuner/sim/memory_account.h"

#include "tests/support/catch.h"

namespace forebay::tuner {

TEST_CASE("a run over the limit at any moment ends", "[tuner][sim][memory]") {
  MemoryAccount memory(100, 200);
  memory.take(100);
  CHECK_FALSE(memory.exceeded());
  memory.take(1);
  memory.give(50);
  CHECK(memory.exceeded());
}

TEST_CASE("peaks are of an interval and of all time", "[tuner][sim][memory]") {
  MemoryAccount memory(10, 100);
  memory.take(50);
  memory.give(40);
  CHECK(memory.peak() == 60);
  memory.restart_peak();
  memory.take(5);
  CHECK(memory.peak() == 25);
  CHECK(memory.peak_ever() == 60);
  CHECK(memory.used() == 25);
}

TEST_CASE("a lowered limit is enforced four seconds later", "[tuner][sim][memory]") {
  MemoryAccount memory(150, 200);
  memory.set_limit(10, 100);
  CHECK(memory.limit() == 100);
  CHECK(memory.next_change() == 14);
  CHECK_FALSE(memory.enforce(13.9, 0));
  memory.take(50);  // Still within the old limit.
  CHECK_FALSE(memory.exceeded());
  memory.give(100);
  CHECK(memory.enforce(14, 0));
  CHECK_FALSE(memory.exceeded());
  memory.take(1);
  CHECK(memory.exceeded());
}

TEST_CASE("a raised limit counts at once, a cut before it never comes", "[tuner][sim][memory]") {
  MemoryAccount memory(150, 200);
  memory.set_limit(10, 100);
  memory.set_limit(12, 300);
  memory.take(150);
  CHECK_FALSE(memory.enforce(14, 0));
  CHECK_FALSE(memory.enforce(16, 0));
  CHECK_FALSE(memory.exceeded());
}

TEST_CASE("exempt memory counts until it is returned", "[tuner][sim][memory]") {
  MemoryAccount memory(150, 200);
  memory.set_limit(0, 120);
  memory.enforce(4, 30);
  CHECK_FALSE(memory.exceeded());
  memory.give(30);
  memory.give_exempt(30);
  CHECK_FALSE(memory.exceeded());
  memory.take(1);
  CHECK(memory.exceeded());
}

}  // namespace forebay::tuner
