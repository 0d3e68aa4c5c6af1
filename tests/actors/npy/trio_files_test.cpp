#include "actors/format/npy/trio_files.h"

#include <memory>
#include <string>
#include <vector>

#include "actors/input/joined_file.h"
#include "actors/input/local_file_system.h"
#include "tests/support/memory_file_system.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay::npy {
namespace {

using Paths = std::vector<std::string>;

struct Trios {
  Trios() {
    for (const std::string day : {"day_0", "day_1"}) {
      files->write("m://" + day + "_dense.npy", "D" + day);
      files->write("m://" + day + "_sparse.npy", "S");
      files->write("m://" + day + "_labels.npy", "Labels");
    }
  }

  Paths listed(const std::string& pattern) const {
    const auto list = view->list(pattern);
    INFO((list ? "" : list.error().message));
    REQUIRE(list);
    Paths paths;
    for (const FileInfo& file : *list) paths.push_back(file.path);
    return paths;
  }
  std::string refusal(const std::string& pattern) const {
    const auto list = view->list(pattern);
    REQUIRE_FALSE(list);
    return list.error().message;
  }

  std::shared_ptr<test::MemoryFileSystem> files = std::make_shared<test::MemoryFileSystem>();
  std::shared_ptr<const FileSystem> view = trios_in(files);
};

TEST_CASE("any file of a trio names the trio, and a glob lists it once", "[npy]") {
  const Trios trios;
  const Paths both = {"m://day_0_sparse.npy", "m://day_1_sparse.npy"};
  CHECK(trios.listed("m://day_*") == both);
  CHECK(trios.listed("m://*_dense.npy") == both);
  CHECK(trios.listed("m://*_labels.npy") == both);
  CHECK(trios.listed("m://day_1_dense.npy") == Paths{"m://day_1_sparse.npy"});
  CHECK(trios.listed("m://day_1_sparse.npy") == Paths{"m://day_1_sparse.npy"});
  CHECK(trios.listed("m://nothing_*").empty());
}

TEST_CASE("a trio is one file of three parts, which are checked one by one", "[npy]") {
  const Trios trios;
  const auto opened = trios.view->open("m://day_0_labels.npy");
  REQUIRE(opened);
  const auto& file = dynamic_cast<const JoinedFile&>(**opened);
  CHECK(file.path() == "m://day_0_sparse.npy");
  CHECK(file.size() == 13);
  CHECK(file.part(kLabels).path() == "m://day_0_labels.npy");
  CHECK(file.start(kLabels) == 7);
  CHECK(file.stamp() == trios.view->stat("m://day_0_sparse.npy")->stamp);
  CHECK(file.check(file.stamp()));
  const FileStamp other{.bytes = file.size(), .version = file.stamp().version + 1};
  CHECK(file.check(other).error().message ==
        "m://day_0_sparse.npy changed since it was indexed; run again");

  trios.files->write("m://day_0_labels.npy", "Labelt");
  CHECK(trios.view->stat("m://day_0_sparse.npy")->stamp != file.stamp());
  std::string bytes(13, '\0');
  CHECK(file.read(0, bytes).error().message ==
        "m://day_0_labels.npy changed since it was indexed; run again");
}

TEST_CASE("a trio that lacks a file is refused by the file's name", "[npy]") {
  const Trios trios;
  trios.files->remove("m://day_0_dense.npy");
  CHECK_THAT(trios.view->open("m://day_0_sparse.npy").error().message,
             Catch::StartsWith("m://day_0_dense.npy") && Catch::Contains("beside each other"));
  trios.files->remove("m://day_1_sparse.npy");
  CHECK_THAT(trios.refusal("m://day_1_*"),
             Catch::StartsWith("m://day_1_sparse.npy") && Catch::Contains("beside each other"));
}

TEST_CASE("of two sparse files the paths name the one to read", "[npy]") {
  const Trios trios;
  trios.files->write("m://day_0_sparse_multi_hot.npz", "M");
  CHECK(trios.listed("m://*_multi_hot.npz") == Paths{"m://day_0_sparse_multi_hot.npz"});
  CHECK(trios.listed("m://day_0_sparse.npy") == Paths{"m://day_0_sparse.npy"});
  CHECK_THAT(trios.refusal("m://day_*"), Catch::Contains("are both there"));
  CHECK_THAT(trios.refusal("m://day_0_dense.npy"), Catch::Contains("are both there"));
  trios.files->remove("m://day_0_sparse.npy");
  CHECK(trios.listed("m://day_0_dense.npy") == Paths{"m://day_0_sparse_multi_hot.npz"});
}

TEST_CASE("a file of no trio is refused with the names that there are", "[npy]") {
  const Trios trios;
  trios.files->write("m://day_2.npy", "");
  CHECK_THAT(trios.refusal("m://day_*"),
             Catch::StartsWith("m://day_2.npy is no file of the format npy") &&
                 Catch::Contains("P_dense.npy"));
  CHECK_FALSE(trios.view->open("m://day_2.npy"));
}

TEST_CASE("no output may replace a file of a trio, whichever of them the paths name", "[npy]") {
  test::TempDir folder;
  for (const std::string name : {"d_dense.npy", "d_sparse.npy", "d_labels.npy"})
    folder.write(name, "");
  const auto view = trios_in(std::make_shared<const LocalFileSystem>());
  const Paths paths = view->local_paths(folder.path("*_dense.npy"));
  CHECK_THAT(paths,
             Catch::UnorderedEquals(Paths{folder.path("d_dense.npy"), folder.path("d_sparse.npy"),
                                          folder.path("d_labels.npy")}));
}

}  // namespace
}  // namespace forebay::npy
