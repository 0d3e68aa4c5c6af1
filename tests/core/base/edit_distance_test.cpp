#include "core/base/edit_distance.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("an edit adds, drops, changes or swaps one letter", "[core][edit_distance]") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("log1p", "log1p") == 0);
  CHECK(edit_distance("log1", "log1p") == 1);
  CHECK(edit_distance("logp1", "log1p") == 1);  // A swap; two changes without it.
  CHECK(edit_distance("clanp", "clamp") == 1);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

}  // namespace
}  // namespace forebay
