#include "core/net/host_port.h"

#include <sys/resource.h>

#include "tests/support/catch.h"

using namespace forebay;

TEST_CASE("a free port is found, or the error says why there is none", "[core][net]") {
  REQUIRE(free_port());
  CHECK(free_port().value() > 0);
  rlimit files{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &files) == 0);
  rlimit none = files;
  none.rlim_cur = 0;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const auto refused = free_port();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &files) == 0);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.starts_with("no port of the loopback can be had: "));
}
