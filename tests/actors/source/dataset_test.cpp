#include "actors/source/dataset.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/actors/source/dataset_folder.h"
#include "tests/actors/source/packed.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::DatasetFolder;
namespace fs = std::filesystem;

TEST_CASE("the blocks of a dataset are its content, in order", "[actors][source]") {
  DatasetFolder folder;
  const std::string a = test::random_lines(1, 100'000);
  const std::string b = test::random_lines(2, 30'000);
  folder.write("data/a.tsv", a);
  folder.write("data/b.tsv", b);
  const auto dataset = folder.opened({"data/*.tsv"});
  CHECK(test::content_of(*dataset, 0) == a);
  CHECK(test::content_of(*dataset, 1) == b);
  std::uint64_t rows = 0;
  for (const BlockRef& block : test::blocks_of(*dataset)) {
    const std::string& content = block.file == 0 ? a : b;
    const auto begin = content.begin() + static_cast<std::ptrdiff_t>(block.offset);
    CHECK(std::count(begin, begin + static_cast<std::ptrdiff_t>(block.bytes), '\n') == block.rows);
    CHECK(std::count(content.begin(), begin, '\n') + 1 == static_cast<std::ptrdiff_t>(block.line));
    rows += block.rows;
  }
  CHECK(rows == dataset->rows());
  CHECK(dataset->bytes() == a.size() + b.size());
  CHECK(dataset->files()[0].rows + dataset->files()[1].rows == rows);
  CHECK(dataset->files()[1].name == "b.tsv");
}

TEST_CASE("packed files give the blocks and the fingerprint of plain ones", "[actors][source]") {
  // 3 MB in total give slots of 1024 bytes; each file alone has slots of 512 or 1024.
  DatasetFolder plain;
  DatasetFolder packed;
  const std::string a = test::random_lines(3, 2'000'000);
  const std::string b = test::random_lines(4, 1'000'000);
  plain.write("a.tsv", a);
  plain.write("b.tsv", b);
  SECTION("gzip") {
    packed.write("a.tsv.gz", test::gzip(a));
    packed.write("b.tsv.gz", test::gzip(b));
  }
  SECTION("gzip members and zstd") {
    packed.write("a.tsv.gz", test::gzip_members(a, 300'000));
    packed.write("b.tsv.zst", test::zstd(b));
  }
  SECTION("zstd frames, and one left plain") {
    packed.write("a.tsv.zst", test::zstd_frames(a, 100'000));
    packed.write("b.tsv", b);
  }
  const auto expected = plain.opened({"*"});
  const auto dataset = packed.opened({"*"});
  CHECK(dataset->fingerprint() == expected->fingerprint());
  REQUIRE(dataset->num_blocks() == expected->num_blocks());
  for (std::size_t i = 0; i < dataset->num_blocks(); ++i) {
    const BlockRef left = dataset->block(i);
    const BlockRef right = expected->block(i);
    REQUIRE((left.file == right.file && left.rows == right.rows && left.offset == right.offset &&
             left.bytes == right.bytes && left.line == right.line));
  }
  CHECK(test::content_of(*dataset, 0) == a);
  CHECK(test::content_of(*dataset, 1) == b);
}

TEST_CASE("the fingerprint depends on names, sizes and content", "[actors][source]") {
  DatasetFolder folder;
  folder.write("one/a.tsv", "0,1\n");
  folder.write("one/b.tsv", "1,2\n");
  const Digest first = folder.opened({"one/*"})->fingerprint();

  SECTION("folders and times do not count") {
    folder.write("two/deep/a.tsv", "0,1\n");
    folder.write("two/deep/b.tsv", "1,2\n");
    fs::last_write_time(folder.path("two/deep/a.tsv"), fs::file_time_type::max());
    CHECK(folder.opened({"two/deep/*"})->fingerprint() == first);
  }
  SECTION("a name counts") {
    fs::rename(folder.path("one/b.tsv"), folder.path("one/c.tsv"));
    CHECK(folder.opened({"one/*"})->fingerprint() != first);
  }
  SECTION("a byte counts") {
    folder.write("one/b.tsv", "1,3\n");
    CHECK(folder.opened({"one/*"})->fingerprint() != first);
  }
  SECTION("the order counts") {
    CHECK(folder.opened({"one/b.tsv", "one/a.tsv"})->fingerprint() != first);
  }
}

TEST_CASE("an empty file among others has no blocks", "[actors][source]") {
  DatasetFolder folder;
  folder.write("a.tsv", "");
  folder.write("b.tsv", "0,1\n");
  folder.write("c.tsv", "");
  const auto dataset = folder.opened({"*.tsv"});
  CHECK(dataset->rows() == 1);
  REQUIRE(dataset->num_blocks() == 1);
  CHECK(dataset->block(0).file == 1);
}

TEST_CASE("a last row without a newline counts", "[actors][source]") {
  DatasetFolder folder;
  folder.write("a.tsv", "0,1\n1,2");
  const auto dataset = folder.opened({"a.tsv"});
  CHECK(dataset->rows() == 2);
  CHECK(test::content_of(*dataset, 0) == "0,1\n1,2");
}

TEST_CASE("a dataset without rows is refused by its paths", "[actors][source]") {
  DatasetFolder folder;
  folder.write("a.tsv", "");
  folder.write("b.tsv", "");
  for (const std::string paths : {"a.tsv", "*.tsv"}) {
    const Error error = folder.refused({paths});
    CHECK(error.code == Code::kInvalid);
    CHECK(error.message == "dataset.paths: there is no row in " + paths);
  }
}

TEST_CASE("a file whose header differs from the first one's is refused by name",
          "[actors][source]") {
  DatasetFolder folder;
  folder.spec.csv.header = true;
  folder.columns.label = "click";
  folder.columns.sparse = {"price"};
  folder.write("a.csv", "click,price\n0,1\n");
  folder.write("b.csv", "price,click\n1,0\n");
  const Error error = folder.refused({"*.csv"});
  CHECK(error.code == Code::kInvalid);
  CHECK(error.message.find("b.csv") != std::string::npos);
}

TEST_CASE("a row longer than the limit is refused with its file", "[actors][source]") {
  DatasetFolder folder;
  folder.spec.max_row_bytes = 1000;
  folder.write("a.tsv", "0,1\n" + std::string(5000, 'x') + "\n");
  const Error error = folder.refused({"a.tsv"});
  CHECK(error.code == Code::kCorrupt);
  CHECK(error.message.find("a.tsv: ") != std::string::npos);
}

TEST_CASE("a file that changed since it was indexed is not read", "[actors][source]") {
  DatasetFolder folder;
  const bool packed = GENERATE(false, true);
  const auto write = [&](const std::string& content) {
    return folder.write(packed ? "a.tsv.gz" : "a.tsv", packed ? test::gzip(content) : content);
  };
  const std::string path = write("0,1\n1,2\n");
  const auto dataset = folder.opened({path});
  auto before = test::open_content(*dataset, 0);
  REQUIRE(before);
  SECTION("another size") { write("0,1\n1,2\n0,3\n"); }
  SECTION("another time") {
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  }
  const std::string expected = path + " changed since it was indexed; run again";
  auto after = test::open_content(*dataset, 0);
  REQUIRE_FALSE(after);
  CHECK(after.error() == Error{Code::kCorrupt, expected});
  std::string bytes(4, '\0');
  auto status = (*before)->read(0, bytes);
  REQUIRE_FALSE(status);
  CHECK(status.error() == Error{Code::kCorrupt, expected});
}

TEST_CASE("indexing ends at a stop request", "[actors][source]") {
  DatasetFolder folder;
  folder.write("a.tsv", test::random_lines(5, 2'000'000));
  int asked = 0;
  folder.options.stopped = [&asked] { return ++asked > 3; };
  const Error error = folder.refused({"a.tsv"});
  CHECK(error == Error{Code::kUnavailable, "stopped"});
  CHECK(folder.bytes_read < 1'000'000);
  CHECK(fs::is_empty(folder.path(".forebay/index")));
}

TEST_CASE("the first failure in file order is reported, although others fail too",
          "[actors][source]") {
  DatasetFolder folder;
  folder.options.threads = 3;
  folder.spec.max_row_bytes = 1000;
  folder.write("a.tsv", test::random_lines(6, 3'000'000));
  folder.write("c.tsv", test::random_lines(7, 3'000'000));
  folder.write("b.tsv", "0,1\n" + std::string(5000, 'x') + "\n");
  const Error error = folder.refused({"*.tsv"});
  CHECK(error.message.find("b.tsv: ") != std::string::npos);
}

TEST_CASE("a run folder that may not be written is refused by name", "[actors][source]") {
  DatasetFolder folder;
  folder.write("a.tsv", "0,1\n");
  folder.options.run_dir = folder.write("in_the_way", "");
  const Error error = folder.refused({"a.tsv"});
  CHECK(error.code == Code::kInvalid);
  CHECK(error.message.find("in_the_way/index") != std::string::npos);
}

}  // namespace
}  // namespace forebay
