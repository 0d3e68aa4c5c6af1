#include "actors/source/stored/file_list.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/actors/source/packed.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::TempDir;

std::vector<std::string> names(const TempDir& folder, const std::vector<std::string>& paths) {
  auto files = list_files(paths, folder.path());
  INFO((files ? "" : files.error().message));
  REQUIRE(files);
  std::vector<std::string> found;
  for (const ListedFile& file : *files) found.push_back(file.name);
  return found;
}

Error refusal(const TempDir& folder, const std::vector<std::string>& paths) {
  auto files = list_files(paths, folder.path());
  REQUIRE_FALSE(files);
  return files.error();
}

bool mentions(const Error& error, const std::string& text) {
  return error.message.find(text) != std::string::npos;
}

using Names = std::vector<std::string>;

TEST_CASE("a glob gives its files sorted bytewise, each entry of the list in turn",
          "[actors][source]") {
  TempDir folder;
  for (const char* name : {"b.tsv", "B.tsv", "a10.tsv", "a9.tsv"}) folder.write(name, "x");
  CHECK(names(folder, {"*.tsv"}) == Names{"B.tsv", "a10.tsv", "a9.tsv", "b.tsv"});
  CHECK(names(folder, {"b.tsv", "a*.tsv"}) == Names{"b.tsv", "a10.tsv", "a9.tsv"});
}

TEST_CASE("packed files come in the order of plain ones", "[actors][source]") {
  // "a.gz" sorts after "a-1.gz", although "a" sorts before "a-1".
  TempDir folder;
  folder.write("a.gz", test::gzip("x"));
  folder.write("a-1.gz", test::gzip("x"));
  CHECK(names(folder, {"*"}) == Names{"a", "a-1"});
}

TEST_CASE("names are relative to the folder that all files share", "[actors][source]") {
  TempDir folder;
  folder.write("data/x/1.tsv", "x");
  folder.write("data/y/2.tsv.zst", test::zstd("x"));
  CHECK(names(folder, {"data/*/*"}) == Names{"x/1.tsv", "y/2.tsv"});
  CHECK(names(folder, {"data/../data/x/./1.tsv"}) == Names{"1.tsv"});
  CHECK(names(folder, {folder.path("data/x/1.tsv")}) == Names{"1.tsv"});
}

TEST_CASE("a name with glob characters means the file of that name if there is one",
          "[actors][source]") {
  TempDir folder;
  folder.write("day[1].tsv", "x");
  folder.write("day1.tsv", "x");
  CHECK(names(folder, {"day[1].tsv"}) == Names{"day[1].tsv"});
}

TEST_CASE("glob characters in the job's own folder stand for themselves", "[actors][source]") {
  TempDir folder;
  for (const char* base : {"run[1]", "run*", "r?n", "run\\1", "run1", "run2"}) {
    folder.write(base + std::string("/") + base + ".csv", "x");
    folder.write(base + std::string("/more/x[1].csv"), "x");
  }
  for (const char* base : {"run[1]", "run*", "r?n", "run\\1"}) {
    const auto paths = [&](const std::vector<std::string>& patterns) {
      const auto files = list_files(patterns, folder.path(base));
      REQUIRE(files);
      std::vector<std::string> found;
      for (const ListedFile& file : *files) found.push_back(file.path);
      return found;
    };
    const std::string own = folder.path(base) + "/" + base + ".csv";
    const std::string more = folder.path(base) + "/more/x[1].csv";
    CHECK(paths({"*.csv"}) == Names{own});
    CHECK(paths({"*/*.csv", std::string(base) + ".csv"}) == Names{more, own});
    CHECK(paths({"more/x[1].csv"}) == Names{more});
    CHECK(FileSystems().local_paths("*.csv", folder.path(base)) == Names{own});
  }
  auto none = list_files({"run1.csv"}, folder.path("run[1]"));
  REQUIRE_FALSE(none);
  CHECK(mentions(none.error(), "(looked for " + folder.path("run[1]/run1.csv") + ")"));
}

TEST_CASE("a path or glob that matches no file is named", "[actors][source]") {
  TempDir folder;
  CHECK(refusal(folder, {"none.tsv"}).code == Code::kNotFound);
  CHECK(mentions(refusal(folder, {"none.tsv"}), "none.tsv: no such file"));
  CHECK(refusal(folder, {"day_*.tsv"}).code == Code::kNotFound);
  CHECK(mentions(refusal(folder, {"day_*.tsv"}), "day_*.tsv matches no file"));
  CHECK(mentions(refusal(folder, {"gs://bucket/a.tsv"}),
                 "gs://bucket/a.tsv: unknown kind of address"));
  CHECK(refusal(folder, {}).code == Code::kInvalid);
}

TEST_CASE("a path that is not a readable file is refused by name", "[actors][source]") {
  TempDir folder;
  SECTION("a folder") {
    folder.write("data/a.tsv", "x");
    CHECK(mentions(refusal(folder, {"data"}), "data is a directory"));
  }
  SECTION("a pipe, without waiting for its writer") {
    REQUIRE(::mkfifo(folder.path("pipe").c_str(), S_IRUSR | S_IWUSR) == 0);
    CHECK(mentions(refusal(folder, {"pipe"}), "pipe is not a regular file"));
  }
  SECTION("a device") { CHECK(mentions(refusal(folder, {"/dev/null"}), "/dev/null is not a reg")); }
  SECTION("a link to nowhere") {
    std::filesystem::create_symlink("nowhere", folder.path("link"));
    CHECK(mentions(refusal(folder, {"l*"}), "link cannot be read"));
  }
  SECTION("more than 2^40 bytes") {
    folder.write("large.tsv", "x");
    std::filesystem::resize_file(folder.path("large.tsv"), kMostFileBytes + 1);
    CHECK(mentions(refusal(folder, {"large.tsv"}), "large.tsv is larger than 1 TiB"));
  }
}

TEST_CASE("a file that is named twice is refused", "[actors][source]") {
  TempDir folder;
  folder.write("a.tsv", "x");
  CHECK(mentions(refusal(folder, {"a.tsv", "*.tsv"}), "a.tsv twice"));
  CHECK(mentions(refusal(folder, {"a.tsv", "./a.tsv"}), "a.tsv twice"));
}

TEST_CASE("a file and a link to it are refused like a file that is named twice",
          "[actors][source]") {
  TempDir folder;
  folder.write("a.tsv", "x");
  SECTION("a hard link") {
    std::filesystem::create_hard_link(folder.path("a.tsv"), folder.path("b.tsv"));
  }
  SECTION("a symbolic link") { std::filesystem::create_symlink("a.tsv", folder.path("b.tsv")); }
  SECTION("a folder that is a link") {
    std::filesystem::create_symlink(".", folder.path("here"));
    const Error refused = refusal(folder, {"a.tsv", "here/a.tsv"});
    CHECK(mentions(refused, "as " + folder.path("a.tsv") + " and as " + folder.path("here/a.tsv")));
    folder.write("b.tsv", "x");  // Equal content alone is not a duplicate.
    CHECK(names(folder, {"a.tsv", "b.tsv"}) == Names{"a.tsv", "b.tsv"});
    return;
  }
  const Error refused = refusal(folder, {"*.tsv"});
  CHECK(refused.code == Code::kInvalid);
  CHECK(mentions(refused, "names one file twice, as " + folder.path("a.tsv") + " and as " +
                              folder.path("b.tsv") + " (a link); its rows would count twice"));
}

TEST_CASE("the codec follows from the content, which must agree with the file's suffix",
          "[actors][source]") {
  TempDir folder;
  folder.write("plain", "x");
  folder.write("gzip", test::gzip("x"));
  folder.write("zstd", test::zstd("x"));
  folder.write("skippable", std::string("\x50\x2a\x4d\x18\0\0\0\0", 8) + test::zstd("x"));
  auto files = list_files({"plain", "gzip", "zstd", "skippable"}, folder.path());
  REQUIRE(files);
  CHECK((*files)[0].codec == Codec::kPlain);
  CHECK((*files)[1].codec == Codec::kGzip);
  CHECK((*files)[2].codec == Codec::kZstd);
  CHECK((*files)[3].codec == Codec::kZstd);

  folder.write("wrong.gz", "x");
  folder.write("wrong.zst", test::gzip("x"));
  folder.write("empty.gz", "");
  folder.write("other.xz", std::string("\xfd"
                                       "7zXZ\0rest",
                                       10));
  CHECK(mentions(refusal(folder, {"wrong.gz"}), "wrong.gz is named .gz but holds no gzip data"));
  CHECK(mentions(refusal(folder, {"wrong.zst"}), "wrong.zst is named .zst"));
  CHECK(mentions(refusal(folder, {"empty.gz"}), "empty.gz is named .gz"));
  CHECK(mentions(refusal(folder, {"other.xz"}), "holds xz data"));
}

}  // namespace
}  // namespace forebay
