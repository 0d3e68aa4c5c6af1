#include "engine/convert/output_folder.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay::test {
namespace {

TEST_CASE("an output is named like its input without a data file's ending", "[engine][convert]") {
  CHECK(stem_of("day_0") == "day_0");
  CHECK(stem_of("a/day_0.tsv") == "a/day_0");
  CHECK(stem_of("day_0_dense.npy") == "day_0");
  CHECK(stem_of("day_0_sparse_multi_hot.npz") == "day_0");
  CHECK(stem_of("part.7") == "part.7");
  CHECK(stem_of(".tsv") == ".tsv");
}

TEST_CASE("an output of many rows is several Parquet files, and always one trio",
          "[engine][convert]") {
  const auto parquet = parquet_output({});
  CHECK(parquet->paths("o/day", 4194304) == std::vector<std::string>{"o/day.parquet"});
  CHECK(parquet->paths("o/day", 4194305) ==
        std::vector<std::string>{"o/day-00000.parquet", "o/day-00001.parquet"});
  CHECK(npy_output({})->paths("o/day", 1 << 30) ==
        std::vector<std::string>{"o/day_dense.npy", "o/day_sparse.npy", "o/day_labels.npy"});
}

TEST_CASE("a folder with other content is refused, one with a state only without a resume",
          "[engine][convert]") {
  const TempDir dir;
  const std::string path = dir.path() + "/out";
  OutputFolder folder(path);
  CHECK(folder.check(false));
  std::filesystem::create_directory(path);
  CHECK(folder.check(false));
  std::ofstream(path + "/mine.txt") << "x";
  CHECK(folder.check(true).error().message ==
        "--out " + path + ": has other content; give a new or an empty folder");
  REQUIRE(folder.write_state({}));
  CHECK(folder.has_state());
  CHECK(folder.check(true));
  CHECK(folder.check(false).error().message ==
        "--out " + path +
            ": holds a conversion; give --resume to go on with it, or another folder");
  OutputFolder file(path + "/mine.txt");
  CHECK(file.check(false).error().message ==
        "--out " + path + "/mine.txt: is no folder; give another one");
}

TEST_CASE("a second conversion is refused a folder, with or without a state, until the first ends",
          "[engine][convert]") {
  const TempDir dir;
  const std::string path = dir.path() + "/out";
  OutputFolder second(path);
  REQUIRE(second.check(false));  // both find no folder yet
  {
    OutputFolder first(path);
    REQUIRE(first.hold(false));
    REQUIRE(first.hold(false));
    for (const bool resumes : {false, true}) {
      const Status refused = second.hold(resumes);
      REQUIRE_FALSE(refused);
      CHECK(refused.error().code == Code::kUnavailable);
      CHECK(refused.error().message == path +
                                           ": another conversion writes into this folder; wait "
                                           "for it, or give another --out");
      REQUIRE(first.write_state({}));
    }
  }
  CHECK(second.hold(true));
  CHECK(OutputFolder(dir.path() + "/new").hold(false));
  CHECK(std::filesystem::is_directory(dir.path() + "/new"));
}

TEST_CASE("a state is read again only by the same conversion, and within its files",
          "[engine][convert]") {
  const TempDir dir;
  const OutputFolder folder(dir.path());
  const std::vector<std::vector<std::string>> files{{dir.path() + "/a"}, {dir.path() + "/b"}};
  LoaderState now;
  now.fingerprint = "f";
  now.identity = {{"--to", "npy"}};
  LoaderState saved = now;
  saved.position.split = 1;
  REQUIRE(folder.write_state({.loader = saved, .sizes = {{1}}}));
  CHECK(folder.read_state(now, files).error().message ==
        "--out " + dir.path() + ": " + dir.path() +
            "/a was written and is missing; give another folder to start anew");
  std::ofstream(dir.path() + "/a") << "x";
  REQUIRE(folder.read_state(now, files));
  CHECK(folder.read_state(now, files)->loader.position.split == 1);
  now.identity["--to"] = "parquet";
  CHECK(folder.read_state(now, files).error().message.find("--to") != std::string::npos);
  now = saved;
  now.fingerprint = "g";
  CHECK(folder.read_state(now, files).error().message.find("other data files") !=
        std::string::npos);
  saved.position.split = 3;
  REQUIRE(folder.write_state({.loader = saved}));
  CHECK(folder.read_state(saved, files).error().message.find("\"split\" is 3") !=
        std::string::npos);
}

/// A folder in which the first of two inputs gave two outputs, `a` of 3 bytes and `b` of 1.
struct HalfDone {
  TempDir dir;
  OutputFolder folder{dir.path()};
  std::vector<std::vector<std::string>> files{
      {dir.path() + "/a", dir.path() + "/b", dir.path() + "/c"}, {dir.path() + "/d"}};
  LoaderState loader;

  HalfDone() {
    loader.fingerprint = "f";
    loader.position.split = 1;
    dir.write("a", "xxx");
    dir.write("b", "x");
  }
  void save(const OutputSizes& sizes) const {
    REQUIRE(folder.write_state({.loader = loader, .sizes = sizes}));
  }
  /// As a program wrote it that kept no sizes.
  void save_without_sizes() const { dir.write(OutputFolder::kState, to_json(loader)); }
  std::string refusal() const {
    const auto read = folder.read_state(loader, files);
    return read ? "" : read.error().message;
  }
};

TEST_CASE("every output of a finished input must be there, in its size", "[engine][convert]") {
  const HalfDone half;
  half.save({{3, 1}});
  REQUIRE(half.refusal().empty());
  CHECK(half.folder.read_state(half.loader, half.files)->sizes == OutputSizes{{3, 1}});
  half.dir.write("b", "xxxxx");
  CHECK(half.refusal() == "--out " + half.dir.path() + ": " + half.dir.path() +
                              "/b was written with 1 bytes and has 5; give another folder to "
                              "start anew");
  std::filesystem::remove(half.dir.path() + "/b");
  CHECK(half.refusal() == "--out " + half.dir.path() + ": " + half.dir.path() +
                              "/b was written and is missing; give another folder to start anew");
}

TEST_CASE("sizes that do not fit the job's files are refused", "[engine][convert]") {
  const HalfDone half;
  const OutputSizes sizes =
      GENERATE(OutputSizes{}, OutputSizes{{3, 1}, {1}}, OutputSizes{{3, 1, 1, 1}}, OutputSizes{{}});
  half.save(sizes);
  CHECK(half.refusal().find("\"sizes\" does not fit the files of the job") != std::string::npos);
}

TEST_CASE("a state without sizes is accepted, and the sizes found are kept", "[engine][convert]") {
  HalfDone half;
  half.save_without_sizes();
  CHECK(half.refusal().find("/c was written and is missing") != std::string::npos);
  half.loader.position.bad_rows = 1;  // then `c` may never have been written
  half.save_without_sizes();
  REQUIRE(half.refusal().empty());
  CHECK(half.folder.read_state(half.loader, half.files)->sizes == OutputSizes{{3, 1}});
  std::filesystem::remove(half.dir.path() + "/a");
  CHECK(half.refusal().find("/a was written and is missing") != std::string::npos);
}

TEST_CASE("a state holds the sizes of more outputs than a loader state has bytes",
          "[engine][convert]") {
  HalfDone half;
  const std::string file = half.dir.path() + "/a";
  half.files.assign(30000, {file});
  half.loader.position.split = half.files.size();
  half.save(OutputSizes(half.files.size(), {3}));
  CHECK(half.refusal().empty());
}

TEST_CASE("sizes are read as they were written, and no other text is", "[engine][convert]") {
  for (const auto& sizes : {OutputSizes{}, OutputSizes{{0}}, OutputSizes{{700, 512}, {88}}}) {
    CHECK(parse_output_sizes(to_text(sizes)) == sizes);
  }
  CHECK(to_text({{700, 512}, {88}}) == "700,512 88");
  for (const char* text :
       {" ", "1,", "1 ", "1  2", ",1", "1;2", "x", "-1", "99999999999999999999"}) {
    CHECK_FALSE(parse_output_sizes(text));
  }
}

}  // namespace
}  // namespace forebay::test
