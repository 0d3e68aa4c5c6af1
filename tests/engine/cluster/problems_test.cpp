#include "engine/cluster/trainer_view.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a problem is reported once, and again after half a minute", "[tools][cluster]") {
  Problems problems;
  CHECK(problems.is_news("no worker is left", 100s));
  CHECK_FALSE(problems.is_news("no worker is left", 101s));
  CHECK_FALSE(problems.is_news("no worker is left", 129s));
  CHECK(problems.is_news("no worker is left", 130s));
  CHECK_FALSE(problems.is_news("no worker is left", 159s));
}

TEST_CASE("the same problem with other figures is the same problem", "[tools][cluster]") {
  Problems problems;
  CHECK(problems.is_news("nothing has come for 3 s", 3s));
  CHECK_FALSE(problems.is_news("nothing has come for 14 s", 14s));
  CHECK(problems.is_news("nothing has gone for 14 s", 14s));
}

}  // namespace
}  // namespace forebay
