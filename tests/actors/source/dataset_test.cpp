#include "actors/source/dataset.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "tests/actors/source/packed.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::TempDir;

DatasetOptions options_in(const TempDir& folder) {
  return {.base_dir = folder.path(),
          .run_dir = folder.path(".forebay"),
          .spill_limit = 0,
          .random_access = false,
          .threads = 2,
          .announce = {},
          .progress = {},
          .stopped = {}};
}

std::unique_ptr<Dataset> given(Result<std::unique_ptr<Dataset>> dataset) {
  INFO((dataset ? "" : dataset.error().message));
  REQUIRE(dataset);
  return std::move(*dataset);
}

Result<std::unique_ptr<Dataset>> open(const TempDir& folder, std::vector<std::string> paths) {
  DatasetSpec spec;
  spec.paths = std::move(paths);
  return open_dataset(spec, {}, options_in(folder));
}

std::vector<BlockRef> blocks_of(const Dataset& dataset) {
  std::vector<BlockRef> blocks;
  for (std::size_t i = 0; i < dataset.num_blocks(); ++i) blocks.push_back(dataset.block(i));
  return blocks;
}

std::string read_block(BlockSource& source, const BlockRef& block) {
  std::string bytes(block.bytes, '\0');
  auto status = source.read(block.offset, bytes);
  INFO((status ? "" : status.error().message));
  REQUIRE(status);
  return bytes;
}

TEST_CASE("the blocks of a dataset are its content, in order", "[actors][source]") {
  TempDir folder;
  const std::string a = test::random_lines(1, 100'000);
  const std::string b = test::random_lines(2, 30'000);
  folder.write("data/a.tsv", a);
  folder.write("data/b.tsv", b);
  const auto dataset = given(open(folder, {"data/*.tsv"}));
  std::string content[2];
  std::uint64_t rows = 0;
  for (const BlockRef& block : blocks_of(*dataset)) {
    auto source = dataset->open(block.file);
    REQUIRE(source);
    const std::string bytes = read_block(**source, block);
    const auto lines = static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
    CHECK(lines == block.rows);
    CHECK(block.offset == content[block.file].size());
    content[block.file] += bytes;
    rows += block.rows;
  }
  CHECK(content[0] == a);
  CHECK(content[1] == b);
  CHECK(rows == dataset->rows());
  CHECK(dataset->bytes() == a.size() + b.size());
  CHECK(dataset->files()[1].name == "b.tsv");
}

}  // namespace
}  // namespace forebay
