#include "engine/process/memory_use.h"

#include <sys/resource.h>

#include <cstdlib>

#include "core/base/sanitizers.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

long faults() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

/// Takes and frees messages as a transport does: every page is written.
void use_and_free(std::size_t bytes) {
  char* const memory = static_cast<char*>(std::malloc(bytes));
  REQUIRE(memory != nullptr);
  for (std::size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
  std::free(memory);
}

TEST_CASE("large messages reuse the same pages", "[tools][process]") {
  constexpr std::size_t kMessage = std::size_t{400} << 10;
  constexpr int kMessages = 100;
  bound_heap_arenas();
  use_and_free(kMessage);
  const long before = faults();
  for (int i = 0; i < kMessages; ++i) use_and_free(kMessage);
  // Ten thousand if each were a mapping of its own. A sanitizer's heap is not checked.
  constexpr bool kOurs = !FOREBAY_ADDRESS_SANITIZER && !FOREBAY_THREAD_SANITIZER;
  CHECK((!kOurs || faults() - before < kMessages));
}

}  // namespace
}  // namespace forebay
