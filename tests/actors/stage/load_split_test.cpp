#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/source/text_blocks.h"
#include "actors/stage/stage_worker.h"
#include "tests/actors/source/dataset_folder.h"
#include "tests/actors/source/packed.h"
#include "tests/support/fake_dataset.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::DatasetFolder;
namespace fs = std::filesystem;

/// Overwrites content of a file and keeps its size and time, as a failing disk or a copying program
/// may do.
void change_in_place(const std::string& path, const std::string& content) {
  const auto time = fs::last_write_time(path);
  REQUIRE(fs::file_size(path) == content.size());
  const fs::path file(path);
  std::ofstream(file, std::ios::binary | std::ios::in) << content;
  fs::last_write_time(path, time);
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A file with `text` at `at` instead of its old content.
void change_at(const std::string& path, std::size_t at, const std::string& text) {
  change_in_place(path, content_of(path).replace(at, text.size(), text));
}

/// Reads all blocks of a dataset, in splits of a few.
struct Reading {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};

  Status read_all(const Dataset& dataset) {
    SplitReader reader(dataset, pool);
    std::vector<BlockRef> blocks;
    for (std::size_t i = 0; i < dataset.num_blocks(); ++i) {
      blocks.push_back(dataset.block(i));
      if (blocks.size() < 7 && i + 1 < dataset.num_blocks()) continue;
      if (auto raw = reader.read(std::exchange(blocks, {})); !raw) return pass(raw);
    }
    return {};
  }

  std::string refusal(const Dataset& dataset) {
    const auto status = read_all(dataset);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == Code::kCorrupt);
    return status.error().message;
  }
};

// How the content is stored, and how it is then read.
struct Plain {
  static constexpr const char* kName = "a.tsv";
  static std::string pack(const std::string& content) { return content; }
  static void set(DatasetOptions&) {}
};
struct GzipInOrder {
  static constexpr const char* kName = "a.tsv.gz";
  static std::string pack(const std::string& content) { return test::gzip(content); }
  static void set(DatasetOptions&) {}
};
struct GzipAnywhere : GzipInOrder {
  static std::string pack(const std::string& content) {
    return test::gzip_members(content, 20'000);
  }
  static void set(DatasetOptions& options) { options.random_access = true; }
};
struct ZstdFrames {
  static constexpr const char* kName = "a.tsv.zst";
  static std::string pack(const std::string& content) { return test::zstd_frames(content, 20'000); }
  static void set(DatasetOptions&) {}
};

TEST_CASE("the last row of a file ends with a newline once it is loaded", "[actors][stage]") {
  DatasetFolder folder;
  folder.write("a.csv", "0,1\n1,2");
  folder.write("b.csv", "0,3\n");
  const auto dataset = folder.opened({"*.csv"});
  Reading reading;
  SplitReader reader(*dataset, reading.pool);
  auto raw = reader.read({dataset->block(0), dataset->block(1)});
  REQUIRE(raw);
  CHECK(std::string(raw->bytes.as<const char>(), raw->bytes.size()) == "0,1\n1,2\n0,3\n");
  CHECK(raw->sizes == std::vector<std::size_t>{8, 4});
}

TEMPLATE_TEST_CASE("one byte that changes in place is found wherever it lies in a stored file",
                   "[actors][stage]", Plain, GzipInOrder, GzipAnywhere, ZstdFrames) {
  const std::string packed = TestType::pack(test::random_lines(21, 80'000));
  DatasetFolder folder;
  TestType::set(folder.options);
  const std::string path = folder.write(TestType::kName, packed);
  const auto dataset = folder.opened({"*"});
  Reading reading;
  REQUIRE(reading.read_all(*dataset));
  for (std::size_t at = packed.size() / 20; at < packed.size(); at += packed.size() / 10) {
    INFO("byte " << at << " of " << packed.size());
    std::string changed = packed;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    change_in_place(path, changed);
    CHECK_THAT(reading.refusal(*dataset), Catch::StartsWith(path));
  }
  change_in_place(path, packed);
  CHECK(reading.read_all(*dataset));
}

TEST_CASE("a decompressed copy that changes in place is named with its original file",
          "[actors][stage]") {
  DatasetFolder folder;
  folder.options.random_access = true;
  folder.options.spill_limit = 1 << 30;
  const std::string path = folder.write("a.tsv.gz", test::gzip(test::random_lines(22, 300'000)));
  const auto dataset = folder.opened({"*"});
  const std::string copy = fs::directory_iterator(folder.path(".forebay/spill"))->path().string();
  change_at(copy, 150'000, "#");
  Reading reading;
  CHECK_THAT(reading.refusal(*dataset), Catch::StartsWith(path + ": ") &&
                                            Catch::Contains(" not as ") &&
                                            Catch::Contains(" indexed in the decompressed copy ") &&
                                            Catch::EndsWith(copy + "; remove it and run again"));
  fs::remove(copy);
  CHECK(reading.read_all(*folder.opened({"*"})));
}

/// Rows of 9 bytes, `1,100007\n` the eighth: slots of 256 bytes hold the starts of 28 or 29.
std::string numbered(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) text += "1," + std::to_string(100'000 + i) + '\n';
  return text;
}

TEST_CASE("a row that cannot be read any more is named with its line, byte and reason",
          "[actors][stage]") {
  DatasetFolder folder;
  const std::string path = folder.write("a.csv", numbered(100));
  const auto dataset = folder.opened({"*"});
  Reading reading;
  const std::string end =
      " are not as they were indexed, though the file's size and time are; restore the file, or "
      "touch it to have it indexed again";
  // The second block has the rows that start in bytes 256 to 511: rows 29 to 56.
  const std::string second = "the 28 rows from line 30 on (bytes 261 to 512)" + end;

  SECTION("one") {
    change_at(path, 9 * 40, "x");
    CHECK(reading.refusal(*dataset) ==
          path + ": line 41 (byte 360) is damaged: column c0: \"x\" is not 0 or 1; " + second);
  }
  SECTION("several") {
    change_at(path, 9 * 40, "x");
    change_at(path, 9 * 44, "y");
    change_at(path, 9 * 50, "z");
    CHECK_THAT(reading.refusal(*dataset),
               Catch::StartsWith(path + ": line 41 (byte 360) and 2 more rows are damaged: "));
  }
  SECTION("two blocks merged into one") {
    change_at(path, 9 * 40 + 8, ";");
    CHECK_THAT(reading.refusal(*dataset),
               Catch::Contains(": line 41 (byte 360) is damaged: 3 fields, not 2; " + second) ||
                   Catch::Contains("is damaged: fewer rows than were indexed; " + second));
  }
  SECTION("a reason with non-text bytes stays on one line") {
    change_at(path, 9 * 40, "\n");
    const std::string message = reading.refusal(*dataset);
    CHECK(message.find('\n') == std::string::npos);
    CHECK_THAT(message, Catch::StartsWith(path + ": line ") && Catch::EndsWith(second));
  }
  SECTION("none, when every row can still be read") {
    change_at(path, 9 * 40 + 3, "5");
    CHECK(reading.refusal(*dataset) == path + ": " + second);
  }
  SECTION("none of the last block's rows, which ends with the file") {
    change_at(path, 9 * 99 + 3, "5");
    CHECK(reading.refusal(*dataset) ==
          path + ": the 14 rows from line 87 on (bytes 774 to 899)" + end);
  }
}

TEST_CASE("a block of one row is named as that row", "[actors][stage]") {
  DatasetFolder folder;
  const std::string row = "0," + std::string(300, '7') + '\n';
  const std::string path = folder.write("a.csv", row + row + row);
  const auto dataset = folder.opened({"*"});
  change_at(path, 303 + 5, "8");
  Reading reading;
  CHECK_THAT(reading.refusal(*dataset),
             Catch::StartsWith(path + ": the row at line 2 (bytes 303 to 605) is not as it was "
                                      "indexed, though the file's size and time are; "));
}

TEST_CASE("a column's name in a reason stays on one line", "[actors][stage]") {
  DatasetFolder folder;
  folder.spec.csv.header = true;
  folder.columns = {.label = "a\nb", .dense = {}, .sparse = {"c"}};
  const std::string path = folder.write("a.csv", "\"a\nb\",c\n0,1\n");
  const auto dataset = folder.opened({"*"});
  change_at(path, 8, "x");
  Reading reading;
  CHECK_THAT(reading.refusal(*dataset), Catch::Contains("column a\\nb: \"x\" is not 0 or 1"));
}

/// A file whose content differs from the index; the next call finds that its time changed.
class WrittenNow final : public ByteSource {
 public:
  Status read(std::uint64_t, std::span<char> out) override {
    if (out.empty()) return fail(Code::kCorrupt, path_ + " changed since it was indexed");
    std::fill(out.begin(), out.end(), '?');
    return {};
  }
  const std::string& path() const override { return path_; }

 private:
  const std::string path_ = "a.csv";
};

class DatasetWrittenNow final : public test::FakeDataset {
 public:
  DatasetWrittenNow() : FakeDataset({10}, 10, 9) {}
  Result<std::unique_ptr<BlockSource>> open(std::uint32_t) const override {
    return std::make_unique<TextBlocks>(*this, std::make_unique<WrittenNow>());
  }
};

TEST_CASE("a file that is written during a read is reported as changed", "[actors][stage]") {
  const DatasetWrittenNow dataset;
  Reading reading;
  CHECK(reading.refusal(dataset) == "a.csv changed since it was indexed");
}

}  // namespace
}  // namespace forebay
