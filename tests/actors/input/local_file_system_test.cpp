#include "actors/input/local_file_system.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

// Returns the error of list(), stat() and open() for a path; the three must agree.
Error refusal(const std::string& path) {
  const LocalFileSystem files;
  const auto listed = files.list(path);
  const auto stat = files.stat(path);
  const auto open = files.open(path);
  REQUIRE_FALSE(listed);
  REQUIRE_FALSE(stat);
  REQUIRE_FALSE(open);
  CHECK(listed.error() == stat.error());
  CHECK(stat.error() == open.error());
  return open.error();
}

TEST_CASE("only regular files are listed and opened", "[actors][input]") {
  const test::TempDir folder;
  SECTION("a folder") {
    folder.write("data/a.tsv", "x");
    const std::string path = folder.path("data");
    CHECK(refusal(path) ==
          Error{Code::kInvalid, path + " is a directory; name its files, as in " + path + "/*"});
  }
  SECTION("a pipe, without waiting for its writer") {
    const std::string path = folder.path("pipe");
    REQUIRE(::mkfifo(path.c_str(), S_IRUSR | S_IWUSR) == 0);
    CHECK(refusal(path) ==
          Error{Code::kInvalid, path + " is not a regular file; a dataset is read more than once"});
  }
  SECTION("a device") {
    CHECK(refusal("/dev/null").message.starts_with("/dev/null is not a regular file"));
  }
}

TEST_CASE("a file has one key under all its names", "[actors][input]") {
  const test::TempDir folder;
  folder.write("a", "x");
  std::filesystem::create_hard_link(folder.path("a"), folder.path("hard"));
  std::filesystem::create_symlink("a", folder.path("soft"));
  const LocalFileSystem files;
  const auto a = files.stat(folder.path("a"));
  REQUIRE(a);
  for (const char* name : {"hard", "soft", "./a"}) {
    const auto other = files.stat(folder.path(name));
    REQUIRE(other);
    CHECK(other->key == a->key);
  }
  CHECK(files.stat(folder.path("./a"))->absolute == a->absolute);
}

TEST_CASE("a file that is renamed over stays readable as it was", "[actors][input]") {
  const test::TempDir folder;
  folder.write("a", "before");
  const auto file = open_local_file(folder.path("a"));
  REQUIRE(file);
  folder.write("b", "behind");
  std::filesystem::rename(folder.path("b"), folder.path("a"));
  std::string out(6, '?');
  CHECK((*file)->check((*file)->stamp()));
  CHECK((*file)->read(0, out));
  CHECK(out == "before");
}

}  // namespace
}  // namespace forebay
