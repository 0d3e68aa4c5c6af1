#include "actors/input/file_system.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "actors/input/local_file_system.h"
#include "core/base/random.h"
#include "tests/support/made_up_file_system.h"
#include "tests/support/memory_file_system.h"
#include "tests/support/skip_note.h"
#include "tests/support/stub_store.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

// Each fixture has a store for files, and functions that change them without the FileSystem.
struct LocalFiles {
  test::TempDir folder;
  std::shared_ptr<const FileSystem> files = std::make_shared<LocalFileSystem>();

  std::string path(const std::string& name) const { return folder.path(name); }
  void write(const std::string& name, const std::string& content) const {
    folder.write(name, content);
  }
  void write_in_place(const std::string& name, const std::string& content) const {
    const auto before = fs::last_write_time(folder.path(name));
    folder.write(name, content);
    fs::last_write_time(folder.path(name), before + std::chrono::microseconds(1));
  }
  void replace(const std::string& name, const std::string& content) const {
    const auto before = fs::last_write_time(folder.path(name));
    folder.write(name + ".aside", content);
    fs::last_write_time(folder.path(name + ".aside"), before + std::chrono::microseconds(1));
    fs::rename(folder.path(name + ".aside"), folder.path(name));
  }
  void remove(const std::string& name) const { fs::remove(folder.path(name)); }
  /// Returns false if this process may read the file nevertheless (root).
  bool forbid(const std::string& name) const {
    fs::permissions(folder.path(name), fs::perms::none);
    return ::geteuid() != 0;
  }
};

struct MadeUpFiles : LocalFiles {
  MadeUpFiles() { files = std::make_shared<test::MadeUpFileSystem>(folder.path()); }
  static std::string path(const std::string& name) {
    return test::MadeUpFileSystem::kPrefix + name;
  }
};

struct MemoryFiles {
  std::shared_ptr<test::MemoryFileSystem> memory = std::make_shared<test::MemoryFileSystem>();
  std::shared_ptr<const FileSystem> files = memory;

  static std::string path(const std::string& name) { return "/memory/" + name; }
  void write(const std::string& name, std::string content) const {
    memory->write(path(name), std::move(content));
  }
  void write_in_place(const std::string& name, const std::string& content) const {
    write(name, content);
  }
  void replace(const std::string& name, const std::string& content) const { write(name, content); }
  void remove(const std::string& name) const { memory->remove(path(name)); }
  bool forbid(const std::string& name) const {
    memory->forbid(path(name));
    return true;
  }
};

struct S3Files {
  std::unique_ptr<test::StubStore> store = std::make_unique<test::StubStore>();
  std::shared_ptr<const FileSystem> files = store->systems.of("s3://");
  S3Files() { fs::remove(store->folder().path("bucket/.keep")); }

  static std::string path(const std::string& name) { return "s3://bucket/" + name; }
  static std::string on_disk(const std::string& name) { return "bucket/" + name; }
  void write(const std::string& name, const std::string& content) const {
    store->write(name, content);
  }
  void write_in_place(const std::string& name, const std::string& content) const {
    const auto before = fs::last_write_time(store->folder().path(on_disk(name)));
    write(name, content);
    fs::last_write_time(store->folder().path(on_disk(name)), before + std::chrono::microseconds(1));
  }
  void replace(const std::string& name, const std::string& content) const {
    write_in_place(name, content);
  }
  void remove(const std::string& name) const { fs::remove(store->folder().path(on_disk(name))); }
  bool forbid(const std::string& name) const {
    fs::permissions(store->folder().path(on_disk(name)), fs::perms::none);
    return true;
  }
};

using EveryFileSystem = std::tuple<LocalFiles, MadeUpFiles, MemoryFiles, S3Files>;

using Names = std::vector<std::string>;

template <typename Place>
Names listed(const Place& place, const std::string& pattern) {
  auto files = place.files->list(place.path(pattern));
  INFO((files ? "" : files.error().message));
  REQUIRE(files);
  Names names;
  const std::size_t before = place.path("").size();
  for (const FileInfo& file : *files) names.push_back(file.path.substr(before));
  return names;
}

template <typename Place>
std::unique_ptr<const InputFile> opened(const Place& place, const std::string& name) {
  auto file = place.files->open(place.path(name));
  INFO((file ? "" : file.error().message));
  REQUIRE(file);
  return std::move(*file);
}

// Returns up to `bytes` bytes from `offset`; the test fails if the read fails.
std::string read(const InputFile& file, std::uint64_t offset, std::size_t bytes) {
  std::string out(bytes, '?');
  auto got = file.read_at(offset, out);
  INFO((got ? "" : got.error().message));
  REQUIRE(got);
  return out.substr(0, *got);
}

TEMPLATE_LIST_TEST_CASE("a glob lists the files that it matches, sorted bytewise by path",
                        "[actors][input]", EveryFileSystem) {
  TestType place;
  for (const char* name : {"b.tsv", "B.tsv", "a10.tsv", "a9.tsv", ".hidden", "x/1.tsv", "y/2"}) {
    place.write(name, "x");
  }
  CHECK(listed(place, "*.tsv") == Names{"B.tsv", "a10.tsv", "a9.tsv", "b.tsv"});
  CHECK(listed(place, "a?.tsv") == Names{"a9.tsv"});
  CHECK(listed(place, "[bB].tsv") == Names{"B.tsv", "b.tsv"});
  CHECK(listed(place, "*/*") == Names{"x/1.tsv", "y/2"});
  CHECK(listed(place, ".h*") == Names{".hidden"});
  CHECK(listed(place, "c*").empty());
}

TEMPLATE_LIST_TEST_CASE("the path of a file stands for that file alone", "[actors][input]",
                        EveryFileSystem) {
  TestType place;
  place.write("day[1].tsv", "x");
  place.write("day1.tsv", "x");
  CHECK(listed(place, "day[1].tsv") == Names{"day[1].tsv"});
  CHECK(listed(place, "day1.tsv") == Names{"day1.tsv"});
}

TEMPLATE_LIST_TEST_CASE("listing, stat and an open file agree on a file", "[actors][input]",
                        EveryFileSystem) {
  TestType place;
  place.write("a", "four");
  place.write("b", "four");
  const auto listed = place.files->list(place.path("*"));
  REQUIRE(listed);
  REQUIRE(listed->size() == 2);
  for (const FileInfo& file : *listed) {
    const auto stat = place.files->stat(file.path);
    REQUIRE(stat);
    const auto open = place.files->open(file.path);
    REQUIRE(open);
    for (const FileInfo& other : {*stat, (*open)->info()}) {
      CHECK(other.path == file.path);
      CHECK(other.absolute == file.absolute);
      CHECK(other.key == file.key);
      CHECK(other.stamp == file.stamp);
    }
    CHECK((*open)->size() == 4);
    CHECK((*open)->check(file.stamp));
  }
  CHECK((*listed)[0].key != (*listed)[1].key);
}

TEMPLATE_LIST_TEST_CASE("a file that is not there is not found, by name", "[actors][input]",
                        EveryFileSystem) {
  TestType place;
  place.write("a", "x");
  CHECK(listed(place, "b").empty());
  const auto stat = place.files->stat(place.path("b"));
  const auto open = place.files->open(place.path("b"));
  REQUIRE_FALSE(stat);
  REQUIRE_FALSE(open);
  for (const Error& error : {stat.error(), open.error()}) {
    CHECK(error.code == Code::kNotFound);
    CHECK(error.message.starts_with(place.path("b") + " "));
  }
}

TEMPLATE_LIST_TEST_CASE("a file that may not be read is refused by name when it is opened",
                        "[actors][input]", EveryFileSystem) {
  TestType place;
  place.write("a", "x");
  if (!place.forbid("a")) return test::note_skipped("this user may read every file");
  CHECK(listed(place, "*") == Names{"a"});
  const auto open = place.files->open(place.path("a"));
  REQUIRE_FALSE(open);
  CHECK(open.error().code == Code::kInvalid);
  CHECK(open.error().message.starts_with(place.path("a") + " cannot be read"));
}

TEMPLATE_LIST_TEST_CASE("reads end at the end of the file", "[actors][input]", EveryFileSystem) {
  TestType place;
  place.write("a", "0123456789");
  place.write("empty", "");
  const auto file = opened(place, "a");
  CHECK(read(*file, 0, 10) == "0123456789");
  CHECK(read(*file, 3, 4) == "3456");
  CHECK(read(*file, 7, 4) == "789");
  CHECK(read(*file, 10, 1).empty());
  CHECK(read(*file, 11, 4).empty());
  CHECK(read(*file, std::uint64_t{1} << 41, 4).empty());
  CHECK(read(*file, 0, 0).empty());
  CHECK(read(*opened(place, "empty"), 0, 4).empty());
  CHECK(opened(place, "empty")->size() == 0);

  std::string out(4, '?');
  CHECK(file->read(6, out));
  CHECK(out == "6789");
  const Status past = file->read(7, out);
  REQUIRE_FALSE(past);
  CHECK(past.error().code == Code::kCorrupt);
  CHECK(past.error().message == place.path("a") + " changed since it was indexed; run again");
}

TEMPLATE_LIST_TEST_CASE("read_ready returns the file's first bytes, and hints change no bytes",
                        "[actors][input]", EveryFileSystem) {
  TestType place;
  place.write("a", "0123456789");
  const auto file = opened(place, "a");
  file->will_read_through();
  file->will_read(2, 100);
  std::string out(4, '?');
  const std::size_t ready = file->read_ready(8, out);
  REQUIRE(ready <= 2);
  CHECK(out.substr(0, ready) == std::string("89").substr(0, ready));
  CHECK(read(*file, 0, 10) == "0123456789");
}

TEMPLATE_LIST_TEST_CASE("several threads read one file at once", "[actors][input]",
                        EveryFileSystem) {
  TestType place;
  std::string content(200'000, '\0');
  Random random(31);
  for (char& c : content) c = static_cast<char>(random.below(256));
  place.write("a", content);
  const auto file = opened(place, "a");
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&file, &content, &wrong, seed] {
      Random offsets(seed);
      std::string out(3000, '\0');
      for (int i = 0; i < 300; ++i) {
        const std::uint64_t offset = offsets.below(content.size() + 100);
        const auto got = file->read_at(offset, out);
        const std::string expected =
            offset < content.size() ? content.substr(offset, out.size()) : "";
        const bool right = got && out.compare(0, *got, expected) == 0 && *got == expected.size();
        if (!right || !file->check(file->stamp())) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEMPLATE_LIST_TEST_CASE("an open file outlives its file system", "[actors][input]",
                        EveryFileSystem) {
  TestType place;
  place.write("a", "0123");
  const auto file = opened(place, "a");
  place.files.reset();
  CHECK(read(*file, 1, 2) == "12");
}

TEMPLATE_LIST_TEST_CASE(
    "a file that changes between listing and opening is opened with its new content",
    "[actors][input]", EveryFileSystem) {
  TestType place;
  place.write("a", "before");
  const auto listed = place.files->stat(place.path("a"));
  REQUIRE(listed);
  std::string after;
  SECTION("truncated") { place.write_in_place("a", after = "bef"); }
  SECTION("grown") { place.write_in_place("a", after = "before and after"); }
  SECTION("overwritten") { place.write_in_place("a", after = "behind"); }
  SECTION("replaced") { place.replace("a", after = "behind"); }
  const auto file = opened(place, "a");
  CHECK(file->stamp() != listed->stamp);
  CHECK(read(*file, 0, 100) == after);
  const Status same = file->check(listed->stamp);
  REQUIRE_FALSE(same);
  CHECK(same.error().code == Code::kCorrupt);
  CHECK(same.error().message == place.path("a") + " changed since it was indexed; run again");
}

TEMPLATE_LIST_TEST_CASE("an open file that changes gives its old content or an error",
                        "[actors][input]", EveryFileSystem) {
  const std::string before = "before";
  TestType place;
  place.write("a", before);
  const auto file = opened(place, "a");
  bool must_be_seen = true;
  SECTION("truncated") { place.write_in_place("a", "bef"); }
  SECTION("emptied") { place.write_in_place("a", ""); }
  SECTION("grown") { place.write_in_place("a", "before and after"); }
  SECTION("overwritten") { place.write_in_place("a", "behind"); }
  SECTION("replaced") {
    must_be_seen = false;
    place.replace("a", "behind");
  }
  SECTION("removed") {
    must_be_seen = false;
    place.remove("a");
  }
  std::string out(before.size(), '?');
  Status outcome = file->check(file->stamp());
  if (outcome) outcome = file->read(0, out);
  if (outcome) {
    CHECK_FALSE(must_be_seen);
    CHECK(out == before);
  } else {
    CHECK(outcome.error().code == Code::kCorrupt);
    CHECK(outcome.error().message == place.path("a") + " changed since it was indexed; run again");
  }
}

}  // namespace
}  // namespace forebay
