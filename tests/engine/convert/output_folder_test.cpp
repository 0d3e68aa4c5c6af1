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
  REQUIRE(folder.write_state(saved));
  CHECK(folder.read_state(now, files).error().message ==
        "--out " + dir.path() + ": " + dir.path() +
            "/a was written and is missing; give another folder to start anew");
  std::ofstream(dir.path() + "/a") << "x";
  REQUIRE(folder.read_state(now, files));
  CHECK(folder.read_state(now, files)->position.split == 1);
  now.identity["--to"] = "parquet";
  CHECK(folder.read_state(now, files).error().message.find("--to") != std::string::npos);
  now = saved;
  now.fingerprint = "g";
  CHECK(folder.read_state(now, files).error().message.find("other data files") !=
        std::string::npos);
  saved.position.split = 3;
  REQUIRE(folder.write_state(saved));
  CHECK(folder.read_state(saved, files).error().message.find("\"split\" is 3") !=
        std::string::npos);
}

}  // namespace
}  // namespace forebay::test
