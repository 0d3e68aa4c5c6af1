#include "actors/source/index/index_cache.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "actors/source/indexing.h"
#include "tests/actors/source/dataset_folder.h"
#include "tests/actors/source/packed.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::DatasetFolder;
namespace fs = std::filesystem;

std::string only_index(const DatasetFolder& folder) {
  std::string found;
  for (const auto& entry : fs::directory_iterator(folder.path(".forebay/index"))) {
    if (entry.path().extension() == ".idx") found = entry.path().string();
  }
  return found;
}

TEST_CASE("a file that was indexed is not read again", "[actors][source]") {
  DatasetFolder folder;
  const std::string content = test::random_lines(31, 3'000'000);
  folder.write("a.tsv", content);
  folder.write("b.tsv.gz", test::gzip(content));
  const auto first = folder.opened({"*.*"});
  CHECK(folder.bytes_read > content.size());
  const auto second = folder.opened({"*.*"});
  CHECK(folder.bytes_read == 0);
  CHECK(second->fingerprint() == first->fingerprint());
  CHECK(second->num_blocks() == first->num_blocks());
  CHECK((test::content_of(*second, 1) == content));
}

TEST_CASE("a file with an outdated index is read again", "[actors][source]") {
  DatasetFolder folder;
  const std::string content = test::random_lines(32, 100'000);
  const std::string path = folder.write("a.tsv", content);
  const Digest before = folder.opened({"a.tsv"})->fingerprint();
  bool same = true;
  SECTION("another time") {
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::hours(100'000));
  }
  SECTION("another size") {
    folder.write("a.tsv", content + "0,1\n");
    same = false;
  }
  SECTION("another setting") { folder.spec.max_row_bytes = 5000; }
  SECTION("a damaged index") {
    const std::string index = only_index(folder);
    std::fstream file(index, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('\x55');
  }
  SECTION("a cut index") { fs::resize_file(only_index(folder), 60); }
  SECTION("a file that is not an index") {
    std::ofstream(only_index(folder)) << "some text that is no index";
  }
  SECTION("an index of another file") {
    folder.write("b.tsv", content + "1,2\n");
    const std::string index = only_index(folder);
    fs::remove_all(folder.path(".forebay"));
    folder.opened({"b.tsv"});
    fs::rename(only_index(folder), index);
  }
  CHECK((folder.opened({"a.tsv"})->fingerprint() == before) == same);
  CHECK(folder.bytes_read > 0);
  folder.opened({"a.tsv"});
  CHECK(folder.bytes_read == 0);
}

/// Changes one byte of the index in an index file, whose last 8 bytes hold the index's offset.
void change_index(const std::string& path, std::size_t place, char byte) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  std::uint64_t begin = 0;
  file.seekg(-8, std::ios::end);
  file.read(reinterpret_cast<char*>(&begin), sizeof begin);
  file.seekp(static_cast<std::streamoff>(begin + place));
  file.put(byte);
}

TEST_CASE("an index of another version, or a damaged one, is made anew with one line",
          "[actors][source]") {
  DatasetFolder folder;
  folder.write("a.tsv", test::random_lines(36, 100'000));
  const Digest before = folder.opened({"a.tsv"})->fingerprint();
  CHECK(folder.announced.empty());
  const std::string path = only_index(folder);
  std::string why = "1 index is damaged";
  SECTION("of another version") {
    change_index(path, 7, '2');
    why = "1 index is of another version";
  }
  SECTION("damaged") { change_index(path, 40, '\x55'); }
  SECTION("of many gigabytes") { fs::resize_file(path, std::uintmax_t{8} << 30); }
  SECTION("a FIFO") {
    fs::remove(path);
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  }
  CHECK(folder.opened({"a.tsv"})->fingerprint() == before);
  CHECK(folder.announced == std::vector<std::string>{folder.path(".forebay") + "/index: " + why +
                                                     "; its files are indexed anew"});
  CHECK(folder.bytes_read > 0);
  folder.opened({"a.tsv"});
  CHECK(folder.bytes_read == 0);
}

TEST_CASE("a changed file is indexed again without a message", "[actors][source]") {
  DatasetFolder folder;
  folder.write("a.tsv", test::random_lines(37, 10'000));
  folder.opened({"a.tsv"});
  folder.write("a.tsv", test::random_lines(38, 11'000));
  folder.opened({"a.tsv"});
  CHECK(folder.announced.empty());
}

TEST_CASE("a file of a large dataset gets finer blocks when it is opened alone",
          "[actors][source]") {
  // A dataset of 50 kB has slots of 256 bytes. With 20 MB more it has 8192, and the cache keeps
  // 4096.
  DatasetFolder folder;
  folder.write("small.tsv", test::random_lines(33, 50'000));
  const std::size_t alone = folder.opened({"small.tsv"})->num_blocks();
  fs::remove_all(folder.path(".forebay"));
  folder.write("large.tsv", test::random_lines(34, 20'000'000));
  folder.opened({"*.tsv"});
  CHECK(folder.opened({"small.tsv"})->num_blocks() == alone);
  CHECK(folder.bytes_read > 0);
  const std::size_t together = folder.opened({"*.tsv"})->num_blocks();
  fs::remove_all(folder.path(".forebay"));
  CHECK(folder.opened({"*.tsv"})->num_blocks() == together);
}

TEST_CASE("an indexed file is still compared with another dataset's header", "[actors][source]") {
  DatasetFolder folder;
  folder.spec.csv.header = true;
  folder.columns.label = "click";
  folder.columns.sparse = {"price"};
  folder.write("a.csv", "click,price\n0,1\n");
  folder.write("b.csv", "price,click\n1,0\n");
  folder.opened({"a.csv"});
  folder.opened({"b.csv"});
  CHECK(folder.refused({"a.csv", "b.csv"}).message.find("b.csv: ") != std::string::npos);
  CHECK(folder.refused({"b.csv", "a.csv"}).message.find("a.csv: ") != std::string::npos);
}

TEST_CASE("partial files of a killed process are removed, those of a living one stay",
          "[actors][source]") {
  DatasetFolder folder;
  folder.write("a.tsv", "0,1\n");
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);  // No process has this number now.
  const std::string dead = ".forebay/index/x.idx." + std::to_string(child) + ".partial";
  const std::string alive = ".forebay/index/x.idx." + std::to_string(::getppid()) + ".partial";
  folder.write(dead, "x");
  folder.write(alive, "x");
  folder.opened({"a.tsv"});
  CHECK_FALSE(fs::exists(folder.path(dead)));
  CHECK(fs::exists(folder.path(alive)));
}

TEST_CASE("a damaged window is found when it is needed", "[actors][source]") {
  DatasetFolder folder;
  const std::string content = test::random_lines(35, 4'000'000);
  folder.write("a.tsv.gz", test::gzip(content));
  const auto dataset = folder.opened({"a.tsv.gz"});
  std::fstream file(only_index(folder), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(20);
  file.put('\x55');
  file.close();
  auto source = test::open_content(*dataset, 0);
  REQUIRE(source);
  std::string bytes(10, '\0');
  auto status = (*source)->read(1'900'000, bytes);
  REQUIRE_FALSE(status);
  CHECK(status.error().message == only_index(folder) + " is damaged; remove it and run again");
}

IndexedFile file_of(std::uint64_t bytes, std::uint64_t row_bytes) {
  BlockBuilder builder(slot_rule::slot_for(bytes));
  for (std::uint64_t at = 0; at < bytes; at += row_bytes) builder.add_row(at, 1 + at / row_bytes);
  IndexedFile file;
  file.index.bytes = bytes;
  file.index.rows = builder.rows();
  file.index.slot_bytes = builder.slot_bytes();
  file.index.blocks = std::move(builder).take();
  return file;
}

TEST_CASE("slots settle at the size that bytes and number of blocks require", "[actors][source]") {
  SECTION("by size") {
    // 3 × 10 MB / 1600 = 18750: slots of 16384 for all three files, of 4096 for one.
    std::vector<IndexedFile> files(3, file_of(10'000'000, 512));
    CHECK(files[0].index.slot_bytes == 4096);
    CHECK(settle_slot(files) == 16384);
    for (const IndexedFile& file : files) CHECK(file.index.slot_bytes == 16384);
  }
  SECTION("by the width of the rows") {
    std::vector<IndexedFile> files(3, file_of(10'000'000, 600));
    CHECK(settle_slot(files) == 32768);
    for (const IndexedFile& file : files) CHECK(file.index.slot_bytes == 32768);
    CHECK(settle_slot(files) == 32768);
    std::vector<IndexedFile> small(2, file_of(10'000'000, 600));
    CHECK(settle_slot(small) == 8192);
  }
  SECTION("by number of blocks, first in one file") {
    // One row per slot of 16384: a file of 18 GB has 1.1 M blocks, or 550 k with slots of 32768.
    std::vector<IndexedFile> files;
    files.push_back(file_of(std::uint64_t{1'100'000} << 14, 1 << 14));
    CHECK(files[0].index.slot_bytes == 32768);
    files.push_back(file_of(1'000'000, 1000));
    CHECK(settle_slot(files) == 32768);
    // A second such file makes 1.1 M blocks with slots of 32768.
    files.push_back(files[0]);
    CHECK(settle_slot(files) == 65536);
    CHECK(files[1].index.slot_bytes == 65536);
    CHECK(settle_slot(files) == 65536);
  }
}

}  // namespace
}  // namespace forebay
