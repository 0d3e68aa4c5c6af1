#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "core/base/sanitizers.h"
#include "core/base/thread/start_thread.h"
#include "core/runtime/executor/executor.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr rlim_t kMiB = 1 << 20;

/// While an object lives, this process may map only so many bytes more.
class MappingLimit {
 public:
  explicit MappingLimit(rlim_t more) {
    ::getrlimit(RLIMIT_AS, &before_);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t now = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
    const rlimit limit = {.rlim_cur = now + more, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  ~MappingLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  MappingLimit(const MappingLimit&) = delete;
  MappingLimit& operator=(const MappingLimit&) = delete;

 private:
  rlimit before_ = {};
};

TEST_CASE("a thread that the system refuses is named", "[core][thread]") {
  constexpr std::size_t kMoreThanThereIs = std::size_t{1} << 47;
  try {
    const Thread thread({.name = "decode-3", .stack_bytes = kMoreThanThereIs}, [] {});
    FAIL("a thread with a stack of 128 TiB");
  } catch (const NoThread& none) {
    CHECK(std::string(none.what()).starts_with("no thread can be started for decode-3: "));
  }
}

TEST_CASE("an executor that gets only one of its threads fails and ends that one",
          "[core][thread]") {
  if (FOREBAY_ADDRESS_SANITIZER || FOREBAY_THREAD_SANITIZER) return;  // They map memory, too.
  const MappingLimit room_for_one_stack(96 * kMiB);
  CHECK_THROWS_AS(SharedExecutor({.name = "x", .threads = 2, .stack_bytes = 64 * kMiB}), NoThread);
}

}  // namespace
}  // namespace forebay
