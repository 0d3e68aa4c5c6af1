#include "core/base/text/nearest.h"

#include <vector>

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("an edit adds, drops, changes or swaps one letter", "[core][nearest]") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("log1p", "log1p") == 0);
  CHECK(edit_distance("log1", "log1p") == 1);
  CHECK(edit_distance("logp1", "log1p") == 1);  // A swap; two changes without it.
  CHECK(edit_distance("clanp", "clamp") == 1);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("the nearest name is the one with the fewest edits", "[core][nearest]") {
  const std::vector<std::string_view> names = {"order.seed", "order.epochs", "trainer.seed"};
  CHECK(nearest_of("order.sede", names) == "order.seed");  // One swap; every other needs more.
  CHECK(nearest_of("order.epcohs", names) == "order.epochs");
  CHECK(nearest_of("zzzzzzzzzzz", names).empty());
  CHECK(nearest_of("nope", std::vector<std::string_view>{"top"}).empty());  // half of its letters
  CHECK(nearest_of("c3", std::vector<std::string_view>{"c0"}) == "c0");
  CHECK(nearest_of(std::string(1'000'000, 'o'), names).empty());
}

TEST_CASE("where no name is near, one is closest still", "[core][nearest]") {
  const std::vector<std::string_view> names = {"order.seed", "run.dir"};
  CHECK(nearest_of("foo", names).empty());
  CHECK(closest_of("foo", names) == "run.dir");  // 7 edits, against 9 for order.seed
  CHECK(closest_of("order.sede", names) == "order.seed");
  CHECK(closest_of(std::string(1'000'000, 'z'), names) == "order.seed");  // 200 edits to both
  CHECK(closest_of("foo", {}).empty());
}

TEST_CASE("a key in the wrong table is near to its namesake", "[core][nearest]") {
  const std::vector<std::string_view> names = {"dataset.paths", "order.batch_size"};
  CHECK(did_you_mean("batch_size", names) == "; did you mean order.batch_size?");
  CHECK(did_you_mean("#", names).empty());
}

TEST_CASE("a key cut short is near to the whole one", "[core][nearest]") {
  const std::vector<std::string_view> names = {"trainer.tables", "trainer.warmup_steps"};
  CHECK(nearest_of("trainer.warmup", names) == "trainer.warmup_steps");
  CHECK(nearest_of("trainer.wa", names) == "trainer.tables");  // Too short for a suggestion.
}

}  // namespace forebay
