#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "actors/source/dataset.h"
#include "core/base/random.h"
#include "tests/actors/source/dataset_folder.h"
#include "tests/support/made_up_file_system.h"
#include "tests/support/made_up_format.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::DatasetFolder;
using test::MadeUpFormat;
namespace fs = std::filesystem;

struct UnitFolder : DatasetFolder {
  UnitFolder() {
    options.formats.add(MadeUpFormat::entry());
    spec.format = MadeUpFormat::kName;
    columns = {.label = "label", .dense = {"value"}, .sparse = {"id"}};
  }
};

test::MadeUpRows rows(std::int64_t first, std::int64_t count) {
  test::MadeUpRows table{.names = {"label", "value", "id", "more"}, .rows = {}};
  for (std::int64_t i = first; i < first + count; ++i) table.rows.push_back({i % 2, i, i, -i});
  return table;
}

TEST_CASE("the blocks of a format with units are its units", "[actors][source]") {
  UnitFolder folder;
  folder.write("a.bin", MadeUpFormat::file_of(rows(0, 100), 30));
  folder.write("b.bin", MadeUpFormat::file_of(rows(0, 31), 30));
  const auto dataset = folder.opened({"*.bin"});
  CHECK(dataset->rows() == 131);
  CHECK(dataset->bytes() == (131 + 6) * 3 * 8);  // and a checksum of each column
  REQUIRE(dataset->num_blocks() == 6);
  const BlockRef block = dataset->block(5);
  CHECK(block.file == 1);
  CHECK(block.rows == 1);
  CHECK(block.offset == 30);
  CHECK(block.line == 1);
  CHECK(block.bytes == 2 * 3 * 8);
  CHECK(dataset->files()[0].bytes == fs::file_size(folder.path("a.bin")));
  CHECK(dataset->files()[0].name == "a.bin");
}

TEST_CASE("files with units are never unpacked, whatever their names", "[actors][source]") {
  UnitFolder folder;
  folder.write("a.gz", MadeUpFormat::file_of(rows(0, 10), 10));
  const auto dataset = folder.opened({"a.gz"});
  CHECK(dataset->rows() == 10);
  CHECK(dataset->files()[0].name == "a.gz");
}

TEST_CASE("only the metadata of files with units are read to index them", "[actors][source]") {
  UnitFolder folder;
  folder.write("data/a.bin", MadeUpFormat::file_of(rows(0, 1000), 100));
  folder.write("data/b.bin", MadeUpFormat::file_of(rows(0, 1000), 100));
  const auto store = std::make_shared<test::MadeUpFileSystem>(folder.path("data"));
  folder.options.file_systems.add(test::MadeUpFileSystem::kPrefix, store);
  const auto dataset = folder.opened({"made-up://*"});
  // A tail and a footer: of the first file for the columns, then of each file.
  CHECK(store->reads() == 6);
  CHECK(dataset->open(0).has_value());
  CHECK(store->reads() == 8);
}

TEST_CASE("files in a store are opened as listed, and their metadata are read before the run",
          "[actors][source]") {
  UnitFolder folder;
  folder.write("data/a.bin", MadeUpFormat::file_of(rows(0, 1000), 100));
  folder.write("data/b.bin", MadeUpFormat::file_of(rows(0, 1000), 100));
  using test::MadeUpFileSystem;
  const auto store =
      std::make_shared<MadeUpFileSystem>(folder.path("data"), MadeUpFileSystem::Where::kStore);
  folder.options.file_systems.add(MadeUpFileSystem::kPrefix, store);
  const auto open_both = [&folder] {
    const auto dataset = folder.opened({"made-up://*"});
    CHECK(dataset->open(0).has_value());
    CHECK(dataset->open(1).has_value());
  };
  // A tail and a footer: of the first file for the columns, then of each file for the index.
  open_both();
  CHECK(store->reads() == 6);
  // The same with the index at hand: of each file for its readers.
  open_both();
  CHECK(store->reads() == 12);
  CHECK(store->opens() == 0);
}

TEST_CASE("a file in a store with other metadata than its index is refused before the run",
          "[actors][source]") {
  UnitFolder folder;
  const std::string path = folder.write("data/a.bin", MadeUpFormat::file_of(rows(0, 100), 10));
  using test::MadeUpFileSystem;
  folder.options.file_systems.add(
      MadeUpFileSystem::kPrefix,
      std::make_shared<MadeUpFileSystem>(folder.path("data"), MadeUpFileSystem::Where::kStore));
  folder.opened({"made-up://*"});
  const auto time = fs::last_write_time(path);
  folder.write("data/a.bin", MadeUpFormat::file_of(rows(7, 100), 10));
  fs::last_write_time(path, time);
  CHECK(folder.refused({"made-up://*"}) ==
        Error{Code::kCorrupt, "made-up://a.bin changed since it was indexed; run again"});
}

TEST_CASE("indexing of units stops when it is asked to", "[actors][source]") {
  UnitFolder folder;
  folder.write("a.bin", MadeUpFormat::file_of(rows(0, 10), 10));
  folder.options.stopped = [] { return true; };
  CHECK(folder.refused({"a.bin"}) == Error{Code::kUnavailable, "stopped"});
}

TEST_CASE("a file with units that lacks a column of the job is refused", "[actors][source]") {
  UnitFolder folder;
  folder.write("a.bin", MadeUpFormat::file_of(rows(0, 10), 10));
  test::MadeUpRows other = rows(0, 10);
  other.names[2] = "di";
  const std::string path = folder.write("b.bin", MadeUpFormat::file_of(other, 10));
  CHECK(folder.refused({"*.bin"}) == Error{Code::kInvalid, path + " has no column \"id\""});
  CHECK_THAT(folder.refused({"b.bin"}).message, Catch::Contains("columns.sparse"));
  folder.columns.sparse = {"more"};
  CHECK(folder.opened({"*.bin"})->rows() == 20);
}

TEST_CASE("a job with other columns makes the index of units anew", "[actors][source]") {
  UnitFolder folder;
  folder.write("a.bin", MadeUpFormat::file_of(rows(0, 100), 10));
  const auto all = folder.opened({"a.bin"});
  folder.opened({"a.bin"});
  CHECK(folder.bytes_read == 0);
  folder.columns.sparse.clear();
  const auto fewer = folder.opened({"a.bin"});
  CHECK(folder.bytes_read > 0);
  CHECK(fewer->block(0).bytes < all->block(0).bytes);
  CHECK(fewer->fingerprint() == all->fingerprint());
}

TEST_CASE("other metadata under the same size and time are found when the file is opened",
          "[actors][source]") {
  UnitFolder folder;
  const std::string path = folder.write("a.bin", MadeUpFormat::file_of(rows(0, 100), 10));
  const auto dataset = folder.opened({"a.bin"});
  const auto time = fs::last_write_time(path);
  folder.write("a.bin", MadeUpFormat::file_of(rows(7, 100), 10));
  fs::last_write_time(path, time);
  const auto opened = dataset->open(0);
  REQUIRE_FALSE(opened);
  CHECK(opened.error() == Error{Code::kCorrupt, path + " changed since it was indexed; run again"});
}

TEST_CASE("units whose numbers cannot be right are refused, whatever the format says",
          "[actors][source]") {
  using M = MadeUpFormat;
  UnitFolder folder;
  const std::string names = M::word(2) + M::word(5) + "label" + M::word(5) + "value";
  folder.columns = {.label = "label", .dense = {"value"}, .sparse = {}};
  const auto refusal = [&](const std::string& groups, const std::string& listed) {
    folder.write("a.bin", M::with_footer(groups, names + listed));
    return folder.refused({"a.bin"});
  };
  const std::string checks = M::word(0) + M::word(0);
  CHECK(refusal("", M::word(1) + M::word(0) + M::word(0) + checks) ==
        Error{Code::kCorrupt,
              folder.path("a.bin") + ": its metadata are damaged: unit 0 has no rows"});
  const std::string damaged = folder.path("a.bin") + " is no made-up file: its footer is damaged";
  // More rows than the file holds, rows that overflow, an offset past the end, too many groups.
  for (const std::string& listed :
       {M::word(1) + M::word(0) + M::word(2) + checks,
        M::word(1) + M::word(0) + M::word(std::uint64_t{1} << 60) + checks,
        M::word(1) + M::word(1) + M::word(1) + checks,
        M::word(1) + M::word(~std::uint64_t{0}) + M::word(1) + checks,
        M::word(~std::uint64_t{0} / 8) + M::word(0) + M::word(1) + checks}) {
    CHECK(refusal(std::string(16, '\0'), listed).message == damaged);
  }
}

TEST_CASE("hostile metadata of units give errors by name, never more", "[actors][source]") {
  UnitFolder folder;
  const std::string whole = MadeUpFormat::file_of(rows(0, 40), 8);
  const auto try_open = [&](const std::string& content) {
    folder.write("a.bin", content);
    fs::last_write_time(folder.path("a.bin"),
                        fs::file_time_type::clock::now() + std::chrono::seconds(content.size()));
    auto dataset = folder.open({"a.bin"});
    if (!dataset) {
      CHECK_THAT(dataset.error().message, Catch::Contains("a.bin") || Catch::Contains("columns."));
      return;
    }
    CHECK((*dataset)->bytes() <= content.size());
  };
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 50) {
    try_open(whole.substr(0, size));
    try_open(whole.substr(size));
  }
  // A footer with changed bytes and a right checksum.
  const std::size_t groups = 40 * 4 * 8;
  const std::string footer = whole.substr(groups, whole.size() - groups - MadeUpFormat::kTail);
  Random random(3);
  for (int i = 0; i < 400; ++i) {
    std::string changed = footer;
    for (int k = 0; k < 1 + i % 3; ++k) {
      changed[random.below(changed.size())] = static_cast<char>(random.next());
    }
    try_open(MadeUpFormat::with_footer(whole.substr(0, groups), changed));
  }
}

}  // namespace
}  // namespace forebay
