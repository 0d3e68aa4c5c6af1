#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/run/run_watch.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a line of the run's log is kept with its time", "[tools][run_log]") {
  const test::TempDir dir;
  RunLog(dir.path(), "ingest").write("begun");
  CHECK(content_of(dir.path("logs/ingest.log")).ends_with(" begun\n"));
}

TEST_CASE("a log on a full disk keeps nothing and reports nothing", "[tools][run_log]") {
  const test::TempDir dir;
  std::filesystem::create_directory(dir.path("logs"));
  std::filesystem::create_symlink("/dev/full", dir.path("logs/ingest.log"));
  const int screen = ::dup(STDERR_FILENO);
  const int caught = ::open(dir.path("stderr").c_str(), O_WRONLY | O_CREAT, 0600);
  ::dup2(caught, STDERR_FILENO);
  RunLog(dir.path(), "ingest").write("begun");
  ::dup2(screen, STDERR_FILENO);
  ::close(screen);
  ::close(caught);
  CHECK(content_of(dir.path("stderr")).empty());
}

}  // namespace forebay
