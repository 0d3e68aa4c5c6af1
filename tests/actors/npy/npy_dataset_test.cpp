#include <cstdint>
#include <string>
#include <vector>

#include "actors/source/dataset.h"
#include "tests/actors/source/dataset_folder.h"
#include "tests/support/npy_files.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::npy_of;

struct NpyFolder : test::DatasetFolder {
  NpyFolder() {
    spec.format = "npy";
    columns = {};
    for (const std::string day : {"a/day_0", "a/day_1"}) put(day, 3);
  }
  void put(const std::string& trio, std::int32_t rows) {
    std::vector<float> dense;
    std::vector<std::int32_t> ids;
    for (std::int32_t i = 0; i < rows; ++i) {
      dense.push_back(static_cast<float>(i));
      ids.push_back(i);
    }
    const auto count = static_cast<std::size_t>(rows);
    write(trio + "_dense.npy", npy_of("<f4", count, dense));
    write(trio + "_sparse.npy", npy_of("<i4", count, ids));
    write(trio + "_labels.npy", npy_of("<i4", count, std::vector<std::int32_t>(count)));
  }
};

TEST_CASE("a dataset of trios has one file for each, whatever names them", "[npy]") {
  NpyFolder folder;
  const auto dataset = folder.opened({"a/day_*"});
  REQUIRE(dataset->files().size() == 2);
  CHECK(dataset->files()[0].name == "day_0_sparse.npy");
  CHECK(dataset->files()[0].bytes == 3 * 128 + 3 * 12);
  CHECK(dataset->rows() == 6);
  CHECK(dataset->num_blocks() == 2);
  for (const auto& paths : std::vector<std::vector<std::string>>{
           {"a/*_dense.npy"},
           {"a/day_0_labels.npy", "a/day_1_sparse.npy"},
           {"a/day_0_dense.npy", "a/day_0_sparse.npy", "a/day_0_labels.npy", "a/day_1_*"}}) {
    const auto same = folder.opened(paths);
    CHECK(same->rows() == 6);
    CHECK(same->fingerprint() == dataset->fingerprint());
  }
}

TEST_CASE("the fingerprint of trios covers the headers and sizes of all three files", "[npy]") {
  NpyFolder folder;
  const Digest before = folder.opened({"a/*"})->fingerprint();
  const auto changed = [&](const std::string& name, const std::string& content) {
    const std::string old = folder.read(name);
    folder.write(name, content);
    const Digest after = folder.opened({"a/*"})->fingerprint();
    folder.write(name, old);
    return after != before;
  };
  CHECK(changed("a/day_0_dense.npy", npy_of<std::int32_t>("<i4", 3, {0, 1, 2})));
  CHECK(changed("a/day_1_labels.npy", npy_of<std::int16_t>("<i2", 3, {0, 1, 1})));
  CHECK(changed("a/day_1_sparse.npy", npy_of<std::int64_t>("<i8", 3, {0, 1, 2})));
  CHECK_FALSE(changed("a/day_1_sparse.npy", npy_of<std::int32_t>("<i4", 3, {5, 6, 7})));
}

TEST_CASE("a trio is refused before the start if a file is missing, other or too short", "[npy]") {
  NpyFolder folder;
  CHECK(folder.refused({"b/*"}).code == Code::kNotFound);
  folder.put("a/day_1", 4);
  folder.write("a/day_1_labels.npy", folder.read("a/day_0_labels.npy"));
  CHECK(folder.refused({"a/*"}).message == folder.path("a/day_1_dense.npy") + " has 4 rows, and " +
                                               folder.path("a/day_1_labels.npy") +
                                               " has 3 rows; they are not of one data set");
  folder.write("a/day_1_labels.npy", "");
  CHECK_THAT(folder.refused({"a/*"}).message,
             Catch::StartsWith(folder.path("a/day_1_labels.npy") + ": "));
  folder.write("a/notes.txt", "");
  CHECK_THAT(folder.refused({"a/*"}).message, Catch::StartsWith(folder.path("a/notes.txt")));
}

TEST_CASE("a dataset without a row is refused, and an empty trio beside others is fine", "[npy]") {
  NpyFolder folder;
  folder.put("a/day_1", 0);
  CHECK(folder.opened({"a/*"})->rows() == 3);
  CHECK_THAT(folder.refused({"a/day_1_*"}).message, Catch::Contains("no row"));
}

}  // namespace
}  // namespace forebay
