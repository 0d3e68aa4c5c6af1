#include "core/base/file_lock.h"

#include <fcntl.h>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("a folder has one holder at a time, until its descriptor is closed",
          "[core][file_lock]") {
  const test::TempDir dir;
  auto first = lock_folder(dir.path(), "taken");
  REQUIRE(first);
  const auto second = lock_folder(dir.path(), "taken");
  REQUIRE_FALSE(second);
  CHECK(second.error().code == Code::kUnavailable);
  CHECK(second.error().message == dir.path() + ": taken");
  *first = Descriptor();
  CHECK(lock_folder(dir.path(), "taken"));
  const std::string none = dir.path("none");
  CHECK(lock_folder(none, "taken").error().message ==
        none + ": cannot be opened: No such file or directory");
}

TEST_CASE("a file is locked by its descriptor, and what has no locks counts as free",
          "[core][file_lock]") {
  const test::TempDir dir;
  const std::string path = dir.write("file", "x");
  const Descriptor first(::open(path.c_str(), O_RDONLY));
  const Descriptor second(::open(path.c_str(), O_RDONLY));
  CHECK(try_lock(first));
  CHECK(try_lock(first));
  CHECK_FALSE(try_lock(second));
  CHECK(try_lock(Descriptor()));  // flock(2) fails with EBADF
}

}  // namespace forebay
