#include "actors/input/joined_file.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/memory_file_system.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

struct Parts {
  Parts() {
    files.write("a", "abc");
    files.write("empty", "");
    files.write("b", "defgh");
  }
  std::unique_ptr<JoinedFile> open() const {
    std::vector<std::unique_ptr<const InputFile>> parts;
    for (const char* path : {"a", "empty", "b"}) parts.push_back(*files.open(path));
    return std::make_unique<JoinedFile>(
        FileInfo{.path = "all", .absolute = "/all", .key = "k", .stamp = {}}, std::move(parts));
  }
  test::MemoryFileSystem files;
};

TEST_CASE("a joined file has the bytes of its parts, one after the other", "[input]") {
  const Parts parts;
  const auto file = parts.open();
  CHECK(file->size() == 8);
  CHECK(file->path() == "all");
  for (std::size_t offset = 0; offset <= 9; ++offset) {
    for (std::size_t size = 0; size <= 9; ++size) {
      std::string out(size, '-');
      const auto got = file->read_at(offset, out);
      REQUIRE(got);
      CHECK(out.substr(0, *got) ==
            std::string("abcdefgh").substr(std::min<std::size_t>(offset, 8), size));
    }
  }
}

TEST_CASE("a read of several ranges fills each of them from its parts", "[input]") {
  const Parts parts;
  const auto file = parts.open();
  std::string last(2, '-');
  std::string across(4, '-');
  REQUIRE(file->begin_read({{6, last}, {1, across}})->wait());
  CHECK(last == "gh");
  CHECK(across == "bcde");
  std::string beyond(2, '-');
  CHECK_THAT(file->begin_read({{7, beyond}})->wait().error().message,
             Catch::StartsWith("all changed"));
}

TEST_CASE("the stamp of a joined file is another when a part is", "[input]") {
  Parts parts;
  const auto file = parts.open();
  CHECK(file->stamp() == parts.open()->stamp());
  parts.files.write("b", "defgi");
  CHECK(file->stamp() != parts.open()->stamp());
  CHECK(file->stamp().bytes == parts.open()->stamp().bytes);
}

}  // namespace
}  // namespace forebay
