#include <memory>
#include <string>

#include "actors/source/dataset.h"
#include "actors/source/index/file_index.h"
#include "actors/source/index/index_cache.h"
#include "tests/actors/source/dataset_folder.h"
#include "tests/actors/source/packed.h"
#include "tests/support/made_up_file_system.h"
#include "tests/support/memory_file_system.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::DatasetFolder;
using test::MadeUpFileSystem;
using test::MemoryFileSystem;

constexpr std::size_t kBytes = 3'000'000;  // several restart points

// A dataset with files in memory and its index on disk.
struct MemoryFolder : DatasetFolder {
  std::shared_ptr<MemoryFileSystem> memory = std::make_shared<MemoryFileSystem>();

  MemoryFolder() { options.file_systems.add("memory://", memory); }
  FileIndex index(const std::string& path) const {
    auto index = read_index(index_path(options.run_dir + "/index", path));
    REQUIRE(index);
    return *index;
  }
};

TEST_CASE("a dataset in memory has the fingerprint, the blocks and the index of one on disk",
          "[actors][source]") {
  const std::string a = test::random_lines(41, kBytes);
  const std::string b = test::random_lines(42, kBytes / 3);
  std::string suffix;
  std::string stored_a = a;
  std::string stored_b = b;
  SECTION("plain") {}
  SECTION("gzip") {
    suffix = ".gz";
    stored_a = test::gzip(a);
    stored_b = test::gzip_members(b, 400'000);
  }
  SECTION("zstd") {
    suffix = ".zst";
    stored_a = test::zstd_frames(a, 150'000);
    stored_b = test::zstd(b);
  }
  MemoryFolder folder;
  const std::string name_a = "a.tsv" + suffix;
  const std::string name_b = "b.tsv" + suffix;
  folder.write("data/" + name_a, stored_a);
  folder.write("data/" + name_b, stored_b);
  folder.memory->write("memory://data/" + name_a, stored_a);
  folder.memory->write("memory://data/" + name_b, stored_b);
  const auto on_disk = folder.opened({"data/*"});
  const auto in_memory = folder.opened({"memory://data/*"});
  CHECK(in_memory->fingerprint() == on_disk->fingerprint());
  CHECK(in_memory->files()[0].path == "memory://data/" + name_a);
  CHECK(in_memory->files()[0].name == "a.tsv");
  CHECK((test::content_of(*in_memory, 0) == a));
  CHECK((test::content_of(*in_memory, 1) == b));
  for (const std::string& name : {name_a, name_b}) {
    const FileIndex expected = folder.index(folder.path("data/" + name));
    FileIndex index = folder.index("memory://data/" + name);
    index.path = expected.path;
    index.stamp = expected.stamp;
    CHECK((index == expected));
  }
  folder.opened({"memory://data/*"});
  CHECK(folder.bytes_read == 0);  // The index was in the cache.
}

TEST_CASE("an object that changes is refused by an open dataset and indexed anew by the next",
          "[actors][source]") {
  const std::string content = test::random_lines(43, 100'000);
  MemoryFolder folder;
  folder.memory->write("memory://a.tsv", content);
  const auto before = folder.opened({"memory://a.tsv"});
  auto source = test::open_content(*before, 0);
  REQUIRE(source);
  folder.memory->write("memory://a.tsv", "1" + content.substr(1));
  std::string out(10, '?');
  const Status read = (*source)->read(0, out);
  REQUIRE_FALSE(read);
  CHECK(read.error() ==
        Error{Code::kCorrupt, "memory://a.tsv changed since it was indexed; run again"});
  REQUIRE_FALSE(test::open_content(*before, 0));
  folder.opened({"memory://a.tsv"});
  CHECK(folder.bytes_read == content.size());
}

TEST_CASE("a copy of a packed object is kept as long as the object is unchanged",
          "[actors][source]") {
  const std::string content = test::random_lines(44, 500'000);
  MemoryFolder folder;
  folder.options.random_access = true;
  folder.options.spill_limit = 1 << 30;
  folder.memory->write("memory://a.tsv.gz", test::gzip(content));
  const auto is_copied = [&folder](const Dataset& dataset) {
    auto source = test::open_content(dataset, 0);
    REQUIRE(source);
    return (*source)->path().starts_with(folder.options.run_dir + "/spill/");
  };
  CHECK(is_copied(*folder.opened({"memory://*"})));
  CHECK_FALSE(folder.announced.empty());
  CHECK(is_copied(*folder.opened({"memory://*"})));
  CHECK(folder.announced.empty());  // No copy was written.
  folder.memory->write("memory://a.tsv.gz", test::gzip(content));
  CHECK(is_copied(*folder.opened({"memory://*"})));
  CHECK_FALSE(folder.announced.empty());
}

TEST_CASE("text in a store is announced before its first byte is read, and once",
          "[actors][source]") {
  DatasetFolder folder;
  folder.write("data/a.tsv", test::random_lines(47, 100'000));
  folder.write("data/b.tsv", test::random_lines(48, 100'000));
  const auto store =
      std::make_shared<MadeUpFileSystem>(folder.path("data"), MadeUpFileSystem::Where::kStore);
  folder.options.file_systems.add(MadeUpFileSystem::kPrefix, store);
  std::uint64_t reads = 0;
  folder.options.announce = [&](const std::string& line) {
    folder.announced.push_back(line);
    reads = store->reads();
  };
  folder.opened({"made-up://a.tsv"});
  REQUIRE(folder.announced.size() == 1);
  CHECK(folder.announced[0].starts_with("indexing 1 file in a store: all of "));
  CHECK(reads < store->reads());
  folder.opened({"made-up://a.tsv"});
  CHECK(folder.announced.empty());
  folder.opened({"data/b.tsv"});
  CHECK(folder.announced.empty());
}

TEST_CASE("one row of the table makes a file system usable for datasets", "[actors][source]") {
  DatasetFolder folder;
  const std::string a = test::random_lines(45, 100'000);
  const std::string b = test::random_lines(46, 100'000);
  folder.write("data/a.tsv", a);
  folder.write("data/b.tsv.gz", test::gzip(b));
  const auto made_up = std::make_shared<MadeUpFileSystem>(folder.path("data"));
  CHECK(folder.refused({"made-up://*"}).code == Code::kNotFound);
  folder.options.file_systems.add(MadeUpFileSystem::kPrefix, made_up);
  const auto expected = folder.opened({"data/*"});
  CHECK(made_up->reads() == 0);
  const auto dataset = folder.opened({"made-up://*"});
  CHECK(dataset->fingerprint() == expected->fingerprint());
  const std::uint64_t reads = made_up->reads();
  CHECK(reads > 0);
  CHECK((test::content_of(*dataset, 0) == a));
  CHECK((test::content_of(*dataset, 1) == b));
  CHECK(made_up->reads() > reads);
}

TEST_CASE("a dataset may mix file systems, and a path without a match is named",
          "[actors][source]") {
  MemoryFolder folder;
  folder.write("a.tsv", "1,2\n");
  folder.memory->write("memory://a.tsv", "3,4\n");
  const auto dataset = folder.opened({"a.tsv", "memory://a.tsv"});
  CHECK(dataset->rows() == 2);
  CHECK(dataset->files()[0].name != dataset->files()[1].name);
  CHECK(dataset->files()[1].name == "memory://a.tsv");
  CHECK(folder.refused({"memory://b*"}) ==
        Error{Code::kNotFound,
              "dataset.paths: memory://b* matches no file (looked for memory://b*)"});
  CHECK(folder.refused({"memory://a.tsv", "memory://*"}).message ==
        "dataset.paths names memory://a.tsv twice; its rows would count twice");
}

}  // namespace
}  // namespace forebay
