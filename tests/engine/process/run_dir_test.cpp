#include "engine/process/run_dir.h"

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("a run.dir that cannot be written is refused with what to set", "[tools][run_dir]") {
  const test::TempDir dir;
  const std::string file = dir.write("file", "");
  CHECK(RunDir::hold(file + "/run").error() ==
        Error{Code::kInvalid, "run.dir " + file +
                                  "/run: Not a directory; set run.dir to a folder that you can "
                                  "write"});
  CHECK(RunDir::hold("").error().message ==
        "run.dir \"\": is no folder; set run.dir to a folder that you can write");
}

TEST_CASE("a run.dir has one holder, whose process a second one is told", "[tools][run_dir]") {
  const test::TempDir dir;
  const auto held = RunDir::hold(dir.path("run"));
  REQUIRE(held);
  const auto second = RunDir::hold(dir.path("run"));
  REQUIRE_FALSE(second);
  CHECK(second.error().code == Code::kUnavailable);
  CHECK(second.error().message.find("is in use by process " + dir.read("run/lock")) !=
        std::string::npos);
}

}  // namespace forebay
