#include "tuner/log/line_log.h"

#include <sys/resource.h>

#include <csignal>
#include <string>

#include "core/base/whole_file.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

/// Lets no file of this process grow beyond `bytes`, as a full disk does, as long as it lives.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

}  // namespace

TEST_CASE("a line that does not fit on the disk leaves nothing behind", "[tuner][log]") {
  const test::TempDir dir;
  const std::string path = dir.path("log.jsonl");
  auto log = LineLog::create(path);
  REQUIRE(log);
  REQUIRE(log->add("first"));
  {
    const FileLimit full(20);
    const Status refused = log->add(std::string(100, 'x'));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kUnavailable);
  }
  CHECK(read_whole(path, 1000).value() == "first\n");
  REQUIRE(log->add("second"));
  CHECK(read_whole(path, 1000).value() == "first\nsecond\n");
}

}  // namespace forebay::tuner
