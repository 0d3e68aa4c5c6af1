#include "tools/process/paths.h"

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("a result can be put beside others, or in place of a file", "[tools][output_place]") {
  const test::TempDir dir;
  CHECK(check_output_path("--out", dir.path("new")));
  CHECK(check_output_path("--out", dir.write("old", "")));
  CHECK(check_output_path("--out", "new"));
}

TEST_CASE("a path where no result can be written is refused by its option",
          "[tools][output_place]") {
  const test::TempDir dir;
  for (const std::string& place : {dir.path("none/new"), dir.path(), dir.write("old", "") + "/new",
                                   std::string("/dev/null"), std::string("/proc/new")}) {
    INFO(place);
    const Status refused = check_output_path("--out", place);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kInvalid);
    CHECK(refused.error().message.starts_with("--out " + place + ": "));
  }
}

}  // namespace forebay
