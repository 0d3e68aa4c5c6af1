#include "core/base/whole_file.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("a file is read as a whole up to the bound, and not past it", "[core][whole_file]") {
  const test::TempDir dir;
  const std::string text(200'000, 'x');
  const std::string path = dir.write("file", text);
  CHECK(read_whole(path, text.size()) == text);
  CHECK(read_whole(path, text.size() - 1).error().code == Code::kCorrupt);
  CHECK(read_whole(dir.write("empty", ""), 0) == std::string());
  // Files of the system whose size is reported as 0 are read to their end.
  CHECK(read_whole("/proc/self/status", 1 << 20)->starts_with("Name:"));
  CHECK(read_whole("/proc/self/status", 10).error().code == Code::kCorrupt);
}

TEST_CASE("a path that is not a regular file is refused by name without blocking",
          "[core][whole_file]") {
  const test::TempDir dir;
  const std::string fifo = dir.path("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  for (const std::string& path : {fifo, dir.path(), std::string("/dev/zero")}) {
    const auto refused = read_whole(path, 100);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kInvalid);
    CHECK(refused.error().message == path + ": is not a regular file");
  }
  CHECK(read_whole(dir.path("none"), 100).error().code == Code::kNotFound);
  std::filesystem::create_symlink(dir.path("loop"), dir.path("loop"));
  const auto loop = read_whole(dir.path("loop"), 100);
  REQUIRE_FALSE(loop);
  CHECK(loop.error().code == Code::kCorrupt);
  CHECK(loop.error().message.starts_with(dir.path("loop") + ": cannot be read: "));
}

}  // namespace forebay
