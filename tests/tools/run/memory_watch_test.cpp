#include "tools/run/memory_watch.h"

#include "core/runtime/latch.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

}  // namespace

TEST_CASE("the message of a run that outgrew its limit names sizes, functions and the likely one",
          "[tools][memory_watch]") {
  CHECK(describe_growth("pipeline.memory", 433 * kMiB, 400 * kMiB, "", "") ==
        "pipeline.memory: 433 MiB are resident, over the limit of 400 MiB; raise it");
  CHECK(describe_growth("--memory", 433 * kMiB, 400 * kMiB, "f, g", "g") ==
        "--memory: 433 MiB are resident, over the limit of 400 MiB; likely cause: g, whose calls "
        "coincide with most of the growth; user functions loaded: f, g; a function must free what "
        "it takes, or the limit must leave room for it");
}

TEST_CASE("a process over its limit is reported once, with what is loaded",
          "[tools][memory_watch]") {
  const UserCode::Loaded function("transform 1 (udf): f of a.so");
  Latch reported;
  std::string message;
  int times = 0;
  {
    const MemoryWatch watch({.limit = [] { return kMiB; },
                             .accounted = [] { return std::uint64_t{0}; },
                             .fail =
                                 [&](const std::string& what) {
                                   ++times;
                                   message = what;
                                   reported.open();
                                 }});
    const InUserCode here(function.code());
    reported.wait();
  }
  CHECK(times == 1);
  CHECK(message.starts_with("pipeline.memory: "));
  CHECK(message.find("functions loaded: transform 1 (udf): f of a.so") != std::string::npos);
}

TEST_CASE("a watch that begins or ends in the middle of a call misses the call, nothing else",
          "[tools][memory_watch]") {
  const UserCode::Loaded function("f");
  const MemoryWatch::Options quiet{.limit = [] { return ~std::uint64_t{0}; },
                                   .accounted = [] { return std::uint64_t{0}; },
                                   .fail = [](const std::string&) { FAIL("over no limit"); }};
  std::optional<MemoryWatch> watch;
  {
    const InUserCode here(function.code());
    watch.emplace(quiet);
  }
  {
    const InUserCode here(function.code());
    watch.reset();
    watch.emplace(quiet);
  }
  const InUserCode here(function.code());
}

}  // namespace forebay
