#include "actors/quarantine.h"

#include <sys/stat.h>

#include <chrono>
#include <filesystem>

#include "tests/support/fake_dataset.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr const char* kHeader = "file\tbyte_offset\tline\treason\ttext\n";

BadRow bad_row(std::uint32_t file, std::uint64_t offset, const std::string& text) {
  return {.file = file,
          .offset = offset,
          .line = offset / 10 + 1,
          .reason = "39 tabs wanted",
          .text = text};
}

/// A quarantine of a dataset of two files, day_0 and day_1, in a folder of its own.
class Place {
 public:
  std::unique_ptr<Quarantine> open(std::uint64_t allowed, Quarantine::Begin begin,
                                   std::uint64_t already = 0) {
    auto opened = Quarantine::open(
        {.path = path(), .allowed = allowed, .already = already, .dataset = dataset_}, begin);
    REQUIRE(opened);
    return std::move(*opened);
  }
  std::string path() const { return dir_.path("quarantine.tsv"); }
  std::string content() const { return dir_.read("quarantine.tsv"); }

 private:
  test::TempDir dir_;
  test::FakeDataset dataset_{{100, 100}, 10, 10};
};

}  // namespace

TEST_CASE("a quarantine keeps each damaged row with its place and reason", "[actors][quarantine]") {
  Place place;
  auto quarantine = place.open(2, Quarantine::Begin::kFresh);
  CHECK_FALSE(std::filesystem::exists(place.path()));
  REQUIRE(quarantine->add({bad_row(0, 20, "a\tb"), bad_row(1, 0, std::string("x\n\\\0\x7f", 5))}));
  CHECK(quarantine->count() == 2);
  CHECK(place.content() == std::string(kHeader) +
                               "day_0\t20\t3\t39 tabs wanted\ta\\x09b\n"
                               "day_1\t0\t1\t39 tabs wanted\tx\\x0a\\x5c\\x00\\x7f\n");
}

TEST_CASE("the bytes of a damaged row are escaped once, in the reason and in the message",
          "[actors][quarantine]") {
  Place place;
  BadRow row = bad_row(0, 20, "x");
  row.reason = "column C1: " + quoted_text("a\x01\t\\\xff\xc2\x9b") + " is no\tnumber\x1b";
  const auto refused = place.open(0, Quarantine::Begin::kFresh)->add({row});
  const std::string shown = R"(column C1: "a\x01\x09\x5c\xff\xc2\x9b" is no\tnumber\x1b)";
  CHECK(place.content() == std::string(kHeader) + "day_0\t20\t3\t" + shown + "\tx\n");
  CHECK_THAT(refused.error().message, Catch::Contains("damaged: " + shown + ";"));
}

TEST_CASE("a resumed quarantine is bounded for any file at its path", "[actors][quarantine]") {
  Place place;
  SECTION("a FIFO is refused and not waited for") {
    REQUIRE(::mkfifo(place.path().c_str(), 0600) == 0);
    const test::FakeDataset dataset({100}, 10, 10);
    const auto refused = Quarantine::open({.path = place.path(), .allowed = 1, .dataset = dataset},
                                          Quarantine::Begin::kResumed);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kInvalid);
    CHECK_THAT(refused.error().message, Catch::StartsWith(place.path() + ": "));
  }
  SECTION("a line of gigabytes ends the known rows") {
    REQUIRE(place.open(1, Quarantine::Begin::kFresh)->add({bad_row(0, 20, "a")}));
    const std::string before = place.content();
    std::filesystem::resize_file(place.path(), std::uintmax_t{8} << 30);
    auto quarantine = place.open(2, Quarantine::Begin::kResumed);
    std::filesystem::resize_file(place.path(), before.size());
    REQUIRE(quarantine->add({bad_row(0, 20, "a")}));
    CHECK(place.content() == before);
  }
}

TEST_CASE("a quarantine refuses the row past those allowed and keeps it too",
          "[actors][quarantine]") {
  Place place;
  auto quarantine = place.open(1, Quarantine::Begin::kFresh);
  REQUIRE(quarantine->add({bad_row(0, 20, "a")}));
  const auto refused = quarantine->add({bad_row(1, 30, "b")});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kCorrupt);
  CHECK(refused.error().message.find("day_1: line 4 (byte 30) is damaged: 39 tabs wanted; "
                                     "dataset.bad_rows = 1") == 0);
  CHECK(place.content().ends_with("day_1\t30\t4\t39 tabs wanted\tb\n"));
}

TEST_CASE("a fresh quarantine forgets an older one", "[actors][quarantine]") {
  Place place;
  REQUIRE(place.open(9, Quarantine::Begin::kFresh)->add({bad_row(0, 20, "a")}));
  const auto fresh = place.open(9, Quarantine::Begin::kFresh);
  CHECK_FALSE(std::filesystem::exists(place.path()));
  REQUIRE(fresh->add({bad_row(0, 40, "c")}));
  CHECK(place.content() == std::string(kHeader) + "day_0\t40\t5\t39 tabs wanted\tc\n");
}

TEST_CASE("a resumed quarantine goes on counting and writes no row twice", "[actors][quarantine]") {
  Place place;
  REQUIRE(
      place.open(9, Quarantine::Begin::kFresh)->add({bad_row(0, 20, "a"), bad_row(1, 20, "b")}));
  const std::string before = place.content();
  const auto resumed = place.open(3, Quarantine::Begin::kResumed, 1);
  CHECK(resumed->count() == 1);
  REQUIRE(resumed->add({bad_row(1, 20, "b")}));
  CHECK(place.content() == before);
  REQUIRE(resumed->add({bad_row(1, 50, "c")}));
  CHECK(resumed->count() == 3);
  CHECK(place.content() == before + "day_1\t50\t6\t39 tabs wanted\tc\n");
}

TEST_CASE("a resumed quarantine of whole lines is not written to", "[actors][quarantine]") {
  Place place;
  REQUIRE(place.open(9, Quarantine::Begin::kFresh)->add({bad_row(0, 20, "a")}));
  const auto before = std::filesystem::last_write_time(place.path()) - std::chrono::hours(1);
  std::filesystem::last_write_time(place.path(), before);
  CHECK(place.open(9, Quarantine::Begin::kResumed, 1)->count() == 1);
  CHECK(std::filesystem::last_write_time(place.path()) == before);
}

TEST_CASE("a resumed quarantine removes half a line, and its row is written again",
          "[actors][quarantine]") {
  Place place;
  REQUIRE(
      place.open(9, Quarantine::Begin::kFresh)->add({bad_row(0, 20, "a"), bad_row(1, 20, "b")}));
  const std::string before = place.content();
  const std::size_t kept = GENERATE(0, 1, 36, 40, 60, 72);  // up to the last byte but one
  REQUIRE(kept + 1 < before.size());
  std::filesystem::resize_file(place.path(), kept);
  const auto resumed = place.open(9, Quarantine::Begin::kResumed, 2);
  REQUIRE(resumed->add({bad_row(0, 20, "a"), bad_row(1, 20, "b")}));
  CHECK(place.content() == before);
}

}  // namespace forebay
