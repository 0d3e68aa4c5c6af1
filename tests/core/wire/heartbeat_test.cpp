#include "core/wire/heartbeat.h"

#include <chrono>

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

TEST_CASE("the faster of two ends sets the pace of both, within reason", "[core][wire]") {
  CHECK(faster_pace(250ms, 0) == 250ms);
  CHECK(faster_pace(250ms, in_nanoseconds(40ms)) == 40ms);
  CHECK(faster_pace(250ms, in_nanoseconds(1s)) == 250ms);
  CHECK(faster_pace(250ms, 1) == 5ms);
  CHECK(faster_pace(2ms, 1) == 2ms);
  CHECK(faster_pace(250ms, ~std::uint64_t{0}) == 250ms);
}

}  // namespace
}  // namespace forebay
