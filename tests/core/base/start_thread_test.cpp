#include "core/base/thread/start_thread.h"

#include <atomic>

#include "core/base/thread/parallel.h"
#include "tests/support/no_thread_left.h"
#include "tests/support/skip_note.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("a thread that cannot be started is refused with its use and what to do",
          "[core][start_thread]") {
  std::string what;
  Status checked;
  test::with_no_thread_left([&] {
    try {
      start_thread("cleaning up", [] {}).join();
    } catch (const NoThread& none) {
      what = none.what();
    }
    checked = check_threads(2, "the network");
  });
  if (!test::kCanRefuseThreads)
    return test::note_skipped("a sanitizer needs memory for each thread");
  CHECK(what.starts_with("no thread can be started for cleaning up: "));
  CHECK(what.find("ulimit -u") != std::string::npos);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().code == Code::kUnavailable);
  CHECK(checked.error().message.starts_with("the network needs 2 threads, and only "));
}

TEST_CASE("as many threads as there are can be started at once", "[core][start_thread]") {
  CHECK(check_threads(0, "nothing"));
  CHECK(check_threads(8, "a test"));
}

TEST_CASE("work in parallel is done by as many threads as there are", "[core][start_thread]") {
  std::atomic<int> done{0};
  const auto work = [&] { for_each_in_parallel(20, 4, [&](std::size_t) { ++done; }); };
  work();
  CHECK(done == 20);
  test::with_no_thread_left(work);
  if (test::kCanRefuseThreads) CHECK(done == 40);
}

}  // namespace
}  // namespace forebay
