#include "engine/process/stop_source.h"

#include <csignal>

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("the first request to stop counts, and later ones change nothing", "[process][stop]") {
  StopSource stop;
  CHECK_FALSE(stop.requested());
  CHECK(stop.signal() == 0);
  CHECK(stop.since() == std::chrono::nanoseconds(0));
  CHECK_FALSE(stop.flag());
  CHECK(stop.ask(SIGTERM));
  CHECK_FALSE(stop.ask(SIGINT));
  CHECK(stop.signal() == SIGTERM);
  CHECK(stop.flag());
  CHECK(stop.since() >= std::chrono::nanoseconds(0));
}

}  // namespace forebay
