#include "core/base/whole_file.h"

#include <fcntl.h>
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

TEST_CASE("a file is replaced whole, and nothing lies beside it", "[core][whole_file]") {
  const test::TempDir dir;
  const std::string path = dir.write("file", "the old content");
  for (const Sync sync : {Sync::kNo, Sync::kYes}) {
    const std::string text(200'000, sync == Sync::kYes ? 'y' : 'n');
    dir.write("file.partial", "of a killed process");
    REQUIRE(replace_whole(path, text, sync));
    CHECK(dir.read("file") == text);
    CHECK_FALSE(std::filesystem::exists(path + kAside));
  }
}

TEST_CASE("a replaced file has the mode that is asked for", "[core][whole_file]") {
  const test::TempDir dir;
  for (const unsigned mode : {0600U, 0666U, 0755U}) {
    REQUIRE(replace_whole(dir.path("file"), "text", Sync::kNo, mode));
    CHECK(std::filesystem::status(dir.path("file")).permissions() == std::filesystem::perms(mode));
  }
}

TEST_CASE("a file that cannot be replaced stays, without a temporary file", "[core][whole_file]") {
  const test::TempDir dir;
  dir.write("folder/inside", "x");
  const auto onto_folder = replace_whole(dir.path("folder"), "text", Sync::kNo);
  REQUIRE_FALSE(onto_folder);
  CHECK(onto_folder.error() == Error{Code::kUnavailable, dir.path("folder") + ": Is a directory"});
  CHECK_FALSE(std::filesystem::exists(dir.path("folder") + kAside));
  CHECK_FALSE(replace_whole(dir.path("none/file"), "text", Sync::kNo));

  const std::string path = dir.write("file", "old");
  {
    auto file = FileAside::create(path);
    REQUIRE(file);
    REQUIRE(file->write("half"));
  }
  CHECK(dir.read("file") == "old");
  CHECK_FALSE(std::filesystem::exists(path + kAside));
}

TEST_CASE("a file without space is told from one that cannot be written", "[core][whole_file]") {
  const test::TempDir dir;
  auto file = FileAside::create(dir.path("file"));
  REQUIRE(file);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{.rlim_cur = 10, .rlim_max = before.rlim_max};
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const auto written = file->write("more than ten bytes");
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  REQUIRE_FALSE(written);
  CHECK(written.error().code == Code::kOverloaded);
}

}  // namespace forebay
