#include "tests/actors/source/dataset_folder.h"

#include <utility>

#include "actors/source/indexed_dataset.h"

#include "tests/support/catch.h"

namespace forebay::test {

DatasetFolder::DatasetFolder() {
  spec.format = "csv";
  spec.csv.header = false;
  columns.label = "c0";
  columns.sparse = {"c1"};
  options = {.base_dir = path(),
             .run_dir = path(".forebay"),
             .spill_limit = 0,
             .random_access = false,
             .threads = 1,
             .announce = [this](const std::string& line) { announced.push_back(line); },
             .progress = [this](std::uint64_t done, std::uint64_t) { bytes_read = done; },
             .stopped = {}};
}

Result<std::unique_ptr<Dataset>> DatasetFolder::open(std::vector<std::string> paths) {
  spec.paths = std::move(paths);
  bytes_read = 0;
  announced.clear();
  return open_dataset(spec, columns, options);
}

std::unique_ptr<Dataset> DatasetFolder::opened(std::vector<std::string> paths) {
  auto dataset = open(std::move(paths));
  INFO((dataset ? "" : dataset.error().message));
  REQUIRE(dataset);
  return std::move(*dataset);
}

Error DatasetFolder::refused(std::vector<std::string> paths) {
  auto dataset = open(std::move(paths));
  REQUIRE_FALSE(dataset);
  return dataset.error();
}

Result<std::unique_ptr<ByteSource>> open_content(const Dataset& dataset, std::uint32_t file) {
  return dynamic_cast<const IndexedDataset&>(dataset).open_content(file);
}

std::vector<BlockRef> blocks_of(const Dataset& dataset) {
  std::vector<BlockRef> blocks;
  for (std::size_t i = 0; i < dataset.num_blocks(); ++i) blocks.push_back(dataset.block(i));
  return blocks;
}

std::string read(ByteSource& source, std::uint64_t offset, std::uint64_t bytes) {
  std::string out(bytes, '\0');
  auto status = source.read(offset, out);
  INFO((status ? "" : status.error().message));
  REQUIRE(status);
  return out;
}

std::string content_of(const Dataset& dataset, std::uint32_t file) {
  auto source = open_content(dataset, file);
  REQUIRE(source);
  std::string content;
  for (const BlockRef& block : blocks_of(dataset)) {
    if (block.file == file) content += read(**source, block.offset, block.bytes);
  }
  return content;
}

}  // namespace forebay::test
