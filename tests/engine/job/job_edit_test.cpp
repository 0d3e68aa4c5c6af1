#include "engine/job/job_edit.h"

#include <filesystem>
#include <fstream>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

std::string edit(const std::string& text) {
  auto edited = with_value(text, "pipeline.allocation", "load", "3");
  REQUIRE(edited);
  return *edited;
}

}  // namespace

TEST_CASE("a key that is given changes in its place, its comment stays", "[tools][job_edit]") {
  CHECK(edit("# a job\n[pipeline.allocation]  # actors\nload = 1   # readers\ndecode = 2\n") ==
        "# a job\n[pipeline.allocation]  # actors\nload = 3   # readers\ndecode = 2\n");
  CHECK(edit("pipeline.allocation.load = 1\n") == "pipeline.allocation.load = 3\n");
  CHECK(edit("[pipeline]\nallocation . load = 1\n") == "[pipeline]\nallocation . load = 3\n");
}

TEST_CASE("a key that is not given comes behind the last one of its table", "[tools][job_edit]") {
  CHECK(edit("[pipeline.allocation]\ndecode = 2\n\n# then\n[tuner]\nmode = \"on\"\n") ==
        "[pipeline.allocation]\ndecode = 2\nload = 3\n\n# then\n[tuner]\nmode = \"on\"\n");
  CHECK(edit("[pipeline.allocation]\ndecode = 2") ==
        "[pipeline.allocation]\ndecode = 2\nload = 3\n");
}

TEST_CASE("a table that is not there comes at the end", "[tools][job_edit]") {
  CHECK(edit("[pipeline]\ncpus = 2\n") ==
        "[pipeline]\ncpus = 2\n\n[pipeline.allocation]\nload = 3\n");
  CHECK(edit("") == "\n[pipeline.allocation]\nload = 3\n");
}

TEST_CASE("a text value may contain a comment sign", "[tools][job_edit]") {
  auto edited = with_value("[tuner]\nmode = \"o#n\" # why\n", "tuner", "mode", "\"off\"");
  REQUIRE(edited);
  CHECK(*edited == "[tuner]\nmode = \"off\" # why\n");
}

TEST_CASE("a value that cannot be edited in place is refused with the line to write",
          "[tools][job_edit]") {
  auto edited =
      with_value("[pipeline]\nallocation = {load = 1}\n", "pipeline.allocation", "load", "3");
  REQUIRE_FALSE(edited);
  CHECK(edited.error().message ==
        "pipeline.allocation.load is written in a way that cannot be changed in place; set "
        "pipeline.allocation.load = 3 by hand");
  const auto broken = with_value("[pipeline\n", "pipeline.allocation", "load", "3");
  CHECK_FALSE(broken);
}

TEST_CASE("a file is replaced whole, through a link, with its permissions", "[tools][job_edit]") {
  const test::TempDir dir;
  const std::string path = dir.write("job.toml", "old");
  std::filesystem::permissions(
      path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink(path, dir.path("link.toml"));
  REQUIRE(replace_file(dir.path("link.toml"), "new"));
  std::ifstream file(path);
  std::string text;
  file >> text;
  CHECK(text == "new");
  CHECK(std::filesystem::is_symlink(dir.path("link.toml")));
  CHECK(std::filesystem::status(path).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

}  // namespace forebay
