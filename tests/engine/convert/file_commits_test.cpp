#include "engine/convert/file_commits.h"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/whole_file.h"
#include "core/runtime/synchronized.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("files get their names in order, and the rest follows", "[engine][convert]") {
  test::TempDir dir;
  FileCommits commits;
  bool was_named = false;
  for (const std::string name : {"a", "b"}) {
    auto file = FileAside::create(dir.path(name));
    REQUIRE(file);
    REQUIRE(file->write(name));
    REQUIRE(commits.add(std::make_unique<FileAside>(std::move(*file))));
  }
  REQUIRE(commits.then([&] {
    was_named =
        read_whole(dir.path("a"), 10).value() + read_whole(dir.path("b"), 10).value() == "ab";
    return Status{};
  }));
  REQUIRE(commits.finish());
  CHECK(was_named);
}

TEST_CASE("after a failure nothing more is done, and everyone hears of it", "[engine][convert]") {
  FileCommits commits;
  Latch begun;
  std::atomic<int> later = 0;
  REQUIRE(commits.then([&] {
    begun.wait();
    return Status(fail(Code::kOverloaded, "no space"));
  }));
  REQUIRE(commits.then([&] {
    ++later;
    return Status{};
  }));
  begun.open();
  CHECK(commits.finish().error().message == "no space");
  CHECK(commits.then([] { return Status{}; }).error().message == "no space");
  CHECK(later == 0);
}

TEST_CASE("a function that throws is a failure", "[engine][convert]") {
  FileCommits commits;
  std::atomic<int> later = 0;
  REQUIRE(commits.then([]() -> Status { throw std::runtime_error("it broke"); }));
  static_cast<void>(commits.then([&] {
    ++later;
    return Status{};
  }));
  CHECK(commits.finish().error().message == "it broke");
  CHECK(later == 0);
}

}  // namespace
}  // namespace forebay
