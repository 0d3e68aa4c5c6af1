#include <memory>

#include "actors/input/file_system.h"
#include "actors/input/local_file_system.h"
#include "tests/support/made_up_file_system.h"
#include "tests/support/memory_file_system.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::MemoryFileSystem;

TEST_CASE("a path belongs to the longest prefix that it begins with, else to local files",
          "[actors][input]") {
  const auto store = std::make_shared<MemoryFileSystem>();
  const auto bucket = std::make_shared<MemoryFileSystem>();
  FileSystems systems;
  const auto local = systems.of("");
  CHECK(dynamic_cast<const LocalFileSystem*>(local.get()) != nullptr);
  CHECK(systems.of("store://a") == local);
  systems.add("store://bucket/", bucket);
  systems.add("store://", store);
  CHECK(systems.of("store://a") == store);
  CHECK(systems.of("store://bucket/a") == bucket);
  CHECK(systems.of("/data/store://a") == local);
  CHECK(systems.of("store:/a") == local);
  CHECK(FileSystems().of("store://a") != store);
}

TEST_CASE("adding a file system replaces the one that has its prefix", "[actors][input]") {
  const auto memory = std::make_shared<MemoryFileSystem>();
  FileSystems systems;
  systems.add("", memory);
  CHECK(systems.of("/a") == memory);
}

TEST_CASE("only paths without a prefix are relative to a folder", "[actors][input]") {
  FileSystems systems;
  systems.add("store://", std::make_shared<MemoryFileSystem>());
  CHECK(systems.full_path("a/*.tsv", "/job") == "/job/a/*.tsv");
  CHECK(systems.full_path("/a", "/job") == "/a");
  CHECK(systems.full_path("store://a", "/job") == "store://a");
  CHECK(systems.normal_path("a/../b/*.tsv", "/job") == "/job/b/*.tsv");
  CHECK(systems.normal_path("store://a//..", "/job") == "store://a//..");
}

TEST_CASE("files of this machine are found through any prefix, objects of a store are none",
          "[actors][input]") {
  const test::TempDir folder;
  const std::string path = folder.write("data/a.tsv", "x");
  folder.write("data/b.txt", "x");
  FileSystems systems;
  const auto memory = std::make_shared<MemoryFileSystem>();
  memory->write("store://data/a.tsv", "x");
  systems.add("store://", memory);
  systems.add(test::MadeUpFileSystem::kPrefix,
              std::make_shared<test::MadeUpFileSystem>(folder.path("data")));
  CHECK(systems.local_paths("data/*.tsv", folder.path()) == std::vector{path});
  CHECK(systems.local_paths(folder.path("data"), "/job") == std::vector{folder.path("data")});
  CHECK(systems.local_paths("made-up://*.tsv", "/job") == std::vector{path});
  CHECK(systems.local_paths("store://data/*.tsv", folder.path()).empty());
}

}  // namespace
}  // namespace forebay
