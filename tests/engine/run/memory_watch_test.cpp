#include "engine/run/memory_watch.h"

#include <optional>
#include <vector>

#include "core/runtime/synchronized.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr std::uint64_t kWatchMiB = std::uint64_t{1} << 20;

std::uint64_t nothing_accounted() { return 0; }

}  // namespace

TEST_CASE("the message of a run that outgrew its limit names sizes, functions and the likely one",
          "[tools][memory_watch]") {
  CHECK(describe_growth("pipeline.memory", 433 * kWatchMiB, 400 * kWatchMiB, "", "") ==
        "pipeline.memory: 433 MiB are resident, over the limit of 400 MiB; raise it");
  CHECK(describe_growth("--memory", 433 * kWatchMiB, 400 * kWatchMiB, "f, g", "g") ==
        "--memory: 433 MiB are resident, over the limit of 400 MiB; likely cause: g, whose calls "
        "coincide with most of the growth; user functions loaded: f, g; a function must free what "
        "it takes, or the limit must leave room for it");
}

TEST_CASE("a process over its limit is reported once, with the loaded functions",
          "[tools][memory_watch]") {
  const UserCode::Loaded function("transform 1 (udf): f of a.so");
  Latch reported;
  std::string message;
  int times = 0;
  {
    MemoryWatch watch(nothing_accounted);
    watch.watch({.limit = [] { return kWatchMiB; },
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

TEST_CASE("a watch that ends or begins in the middle of a call misses the call, nothing else",
          "[tools][memory_watch]") {
  const UserCode::Loaded function("f");
  const MemoryWatch::Options quiet{.limit = [] { return ~std::uint64_t{0}; },
                                   .fail = [](const std::string&) { FAIL("over no limit"); }};
  std::optional<MemoryWatch> watch;
  {
    const InUserCode here(function.code());
    watch.emplace(nothing_accounted).watch(quiet);
  }
  {
    const InUserCode here(function.code());
    watch->stop();
    watch->watch(quiet);
    watch.emplace(nothing_accounted).watch(quiet);
  }
  const InUserCode here(function.code());
}

TEST_CASE("a call that began and grew before the limit is compared with is found",
          "[tools][memory_watch]") {
  const UserCode::Loaded short_one("transform 1 (udf): short_one of a.so");
  const UserCode::Loaded endless("transform 2 (udf): endless of a.so");
  MemoryWatch watch(nothing_accounted);
  const MemoryWatch other(nothing_accounted);
  { const InUserCode before(short_one.code()); }
  const InUserCode here(endless.code());
  std::vector<char> grown(64 * kWatchMiB, 'x');
  Latch reported;
  std::string message;
  watch.watch({.limit = [] { return kWatchMiB; },
               .fail =
                   [&](const std::string& what) {
                     message = what;
                     reported.open();
                   }});
  reported.wait();
  watch.stop();
  CHECK(message.find("likely cause: transform 2 (udf): endless of a.so,") != std::string::npos);
}

}  // namespace forebay
