#include <filesystem>
#include <string>
#include <vector>

#include "actors/source/spill_folder.h"
#include "actors/source/spilling.h"
#include "tests/actors/source/dataset_folder.h"
#include "tests/actors/source/packed.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::DatasetFolder;
namespace fs = std::filesystem;

constexpr std::uint64_t kPlenty = 1 << 30;
constexpr std::size_t kLarge = 9'000'000;  // more than kLongestSpan

std::vector<std::string> copies(const DatasetFolder& folder) {
  std::vector<std::string> found;
  if (!fs::exists(folder.path(".forebay/spill"))) return found;
  for (const auto& entry : fs::directory_iterator(folder.path(".forebay/spill"))) {
    found.push_back(entry.path().string());
  }
  return found;
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a zstd file of one large frame is written decompressed, and that is announced",
          "[actors][source]") {
  DatasetFolder folder;
  folder.options.spill_limit = kPlenty;
  const std::string content = test::random_lines(41, kLarge);
  folder.write("day.tsv.zst", test::zstd(content));
  const auto dataset = folder.opened({"day.tsv.zst"});
  REQUIRE(folder.announced.size() == 1);
  CHECK(mentions(folder.announced[0], "day.tsv.zst has no restart points: writing 9MiB"));
  REQUIRE(copies(folder).size() == 1);
  CHECK(fs::file_size(copies(folder)[0]) == content.size());
  CHECK((test::content_of(*dataset, 0) == content));

  SECTION("the next run takes the same copy") {
    const auto time = fs::last_write_time(copies(folder)[0]);
    CHECK((test::content_of(*folder.opened({"day.tsv.zst"}), 0) == content));
    CHECK(folder.announced.empty());
    CHECK(fs::last_write_time(copies(folder)[0]) == time);
  }
  SECTION("an incomplete copy is written again") {
    fs::resize_file(copies(folder)[0], 1000);
    CHECK((test::content_of(*folder.opened({"day.tsv.zst"}), 0) == content));
    CHECK(fs::file_size(copies(folder)[0]) == content.size());
  }
  SECTION("the copy of a changed file is replaced") {
    const std::string after = test::random_lines(42, kLarge);
    folder.write("day.tsv.zst", test::zstd(after));
    CHECK((test::content_of(*folder.opened({"day.tsv.zst"}), 0) == after));
    CHECK(copies(folder).size() == 1);
  }
  SECTION("the copy of a removed file is removed") {
    fs::remove(folder.path("day.tsv.zst"));
    folder.write("other.tsv", "0,1\n");
    folder.opened({"other.tsv"});
    CHECK(copies(folder).empty());
  }
  SECTION("another dataset of the same run leaves it alone") {
    folder.write("other.tsv", "0,1\n");
    folder.opened({"other.tsv"});
    CHECK(copies(folder).size() == 1);
  }
  SECTION("a copy that was changed is not read") {
    fs::resize_file(copies(folder)[0], 1000);
    auto source = test::open_content(*dataset, 0);
    REQUIRE_FALSE(source);
    CHECK(source.error().message == copies(folder)[0] + " was changed; remove it and run again");
  }
}

TEST_CASE("a required copy that does not fit is refused with the bytes needed",
          "[actors][source]") {
  DatasetFolder folder;
  folder.options.spill_limit = 1 << 20;
  folder.write("a.tsv.zst", test::zstd(test::random_lines(43, kLarge)));
  folder.write("b.tsv.zst", test::zstd(test::random_lines(44, kLarge)));
  const Error error = folder.refused({"*.zst"});
  CHECK(error.code == Code::kOverloaded);
  // 2 × 9,000,000 bytes are 17.2 MiB.
  CHECK(mentions(error.message, "run.spill = 1MiB is too small"));
  CHECK(mentions(error.message, "a.tsv.zst and 1 more have no restart points"));
  CHECK(mentions(error.message, "set run.spill to 18MiB or more"));
  CHECK(copies(folder).empty());
  folder.options.spill_limit = 18 << 20;
  folder.opened({"*.zst"});
  CHECK(copies(folder).size() == 2);
}

TEST_CASE("packed files that are read out of order are copied while they are indexed",
          "[actors][source]") {
  DatasetFolder folder;
  folder.options.random_access = true;
  folder.options.spill_limit = kPlenty;
  const std::string content = test::random_lines(45, 300'000);
  folder.write("a.tsv.gz", test::gzip(content));
  folder.write("b.tsv.zst", test::zstd(content));
  folder.write("c.tsv", content);
  const auto dataset = folder.opened({"*.tsv*"});
  REQUIRE(folder.announced.size() == 1);
  CHECK(mentions(folder.announced[0], "writing 2 compressed files decompressed to"));
  CHECK(copies(folder).size() == 2);
  for (std::uint32_t file = 0; file < 3; ++file) {
    CHECK((test::content_of(*dataset, file) == content));
  }
}

TEST_CASE("a compressed file without space for a copy is read in place, with a message",
          "[actors][source]") {
  DatasetFolder folder;
  folder.options.random_access = true;
  folder.options.spill_limit = 500'000;
  const std::string content = test::random_lines(46, 400'000);
  folder.write("a.tsv.gz", test::gzip(content));
  folder.write("b.tsv.gz", test::gzip(content));
  const auto dataset = folder.opened({"*.gz"});
  CHECK(copies(folder).size() == 1);
  REQUIRE_FALSE(folder.announced.empty());
  CHECK(mentions(folder.announced.back(), "b.tsv.gz must be inflated again and again"));
  CHECK((test::content_of(*dataset, 0) == content));
  CHECK((test::content_of(*dataset, 1) == content));

  SECTION("it is copied once there is space") {
    folder.options.spill_limit = kPlenty;
    folder.opened({"*.gz"});
    CHECK(folder.announced.size() == 1);
    CHECK(copies(folder).size() == 2);
  }
  SECTION("copies past a lowered limit are removed") {
    folder.options.spill_limit = 300'000;
    folder.opened({"*.gz"});
    CHECK(copies(folder).empty());
  }
}

TEST_CASE("an optional copy is removed for a required one", "[actors][source]") {
  DatasetFolder folder;
  folder.options.random_access = true;
  folder.options.spill_limit = 10'000'000;
  const std::string small = test::random_lines(47, 2'000'000);
  const std::string large = test::random_lines(48, kLarge);
  folder.write("a.tsv.gz", test::gzip(small));
  folder.write("b.tsv.zst", test::zstd(large));
  const auto dataset = folder.opened({"*.tsv*"});
  REQUIRE(copies(folder).size() == 1);
  CHECK(fs::file_size(copies(folder)[0]) == large.size());
  CHECK((test::content_of(*dataset, 0) == small));
  CHECK((test::content_of(*dataset, 1) == large));
}

TEST_CASE("an index that is stopped leaves no copy behind", "[actors][source]") {
  DatasetFolder folder;
  folder.options.random_access = true;
  folder.options.spill_limit = kPlenty;
  folder.write("a.tsv.gz", test::gzip(test::random_lines(49, 3'000'000)));
  int asked = 0;
  folder.options.stopped = [&asked] { return ++asked > 3; };
  CHECK(folder.refused({"a.tsv.gz"}).message == "stopped");
  CHECK(copies(folder).empty());
}

TEST_CASE("a spill folder counts the bytes that it reserves", "[actors][source]") {
  test::TempDir dir;
  SpillFolder folder(dir.path(), 100);
  CHECK(folder.take(60, SpillNeed::kRequired));
  auto refused = folder.take(41, SpillNeed::kRequired);
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == Error{Code::kOverloaded, "run.spill = 100 bytes is used up"});
  folder.give(60);
  {
    auto copy = SpillCopy::begin(folder, dir.path("x"), SpillNeed::kRequired);
    REQUIRE(copy);
    REQUIRE(copy->write(std::string(70, 'x')));
    CHECK(folder.used() == 70);
    CHECK_FALSE(copy->write(std::string(31, 'x')));
  }
  CHECK(folder.used() == 0);
  CHECK(fs::is_empty(dir.path()));
  auto copy = SpillCopy::begin(folder, dir.path("x"), SpillNeed::kRequired);
  REQUIRE(copy);
  REQUIRE(copy->write(std::string("content")));
  REQUIRE(copy->commit());
  CHECK(folder.used() == 7);
  CHECK(dir.read("x") == "content");
  folder.remove(dir.path("x"), 7);
  CHECK(folder.used() == 0);
}

TEST_CASE("a size is written as a job file has it, rounded up", "[actors][source]") {
  CHECK(size_text(17) == "17 bytes");
  CHECK(size_text(1 << 20) == "1MiB");
  CHECK(size_text((1 << 20) + 1) == "2MiB");
}

}  // namespace
}  // namespace forebay
