#include "actors/source/row_counts.h"

#include <string>
#include <vector>

#include "core/base/whole_file.h"
#include "tests/support/fake_dataset.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

const Digest kKey{5, 6};

TEST_CASE("without counts all rows of a block remain", "[actors][row_counts]") {
  const test::FakeDataset dataset({25}, 10, 4);
  const RowCounts counts(dataset);
  CHECK(counts.total() == 25);
  CHECK(counts.of(0) == 10);
  CHECK(counts.of(2) == 5);
}

TEST_CASE("counts come back from their file with their key and dataset alone",
          "[actors][row_counts]") {
  const test::TempDir dir;
  const test::FakeDataset dataset({25}, 10, 4);
  const RowCounts counts(dataset, {10, 0, 3});
  CHECK(counts.total() == 13);
  const std::string path = dir.path("counts");
  REQUIRE(counts.save(path, kKey));
  const auto read = RowCounts::load(path, kKey, dataset);
  REQUIRE(read);
  CHECK(read->total() == 13);
  CHECK(read->of(2) == 3);
  CHECK_FALSE(RowCounts::load(path, {5, 7}, dataset));
  CHECK_FALSE(RowCounts::load(path, kKey, test::FakeDataset({35}, 10, 4)));
  CHECK_FALSE(RowCounts::load(dir.path("none"), kKey, dataset));
}

TEST_CASE("a file of counts with one changed byte, or one too few, is refused",
          "[actors][row_counts]") {
  const test::TempDir dir;
  const test::FakeDataset dataset({25}, 10, 4);
  const std::string path = dir.path("counts");
  REQUIRE(RowCounts(dataset, {10, 0, 3}).save(path, kKey));
  const std::string sound = *read_whole(path, 1 << 20);
  for (std::size_t at = 0; at < sound.size(); ++at) {
    std::string text = sound;
    text[at] = static_cast<char>(text[at] ^ 4);
    dir.write("counts", text);
    CHECK_FALSE(RowCounts::load(path, kKey, dataset));
    dir.write("counts", sound.substr(0, at));
    CHECK_FALSE(RowCounts::load(path, kKey, dataset));
  }
  // More rows than a block has.
  REQUIRE(RowCounts(dataset, {11, 0, 3}).save(path, kKey));
  CHECK_FALSE(RowCounts::load(path, kKey, dataset));
}

}  // namespace
}  // namespace forebay
