#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/source/dataset.h"
#include "tests/support/temp_dir.h"

namespace forebay::test {

/// A folder with files of a dataset in it, and the options that open them: CSV without a header,
/// read in order, nothing spilled.
struct DatasetFolder : TempDir {
  DatasetSpec spec;
  ColumnSpec columns;
  DatasetOptions options;
  std::vector<std::string> announced;
  std::atomic<std::uint64_t> bytes_read{0};  ///< Of stored files, while indexing.

  DatasetFolder();
  Result<std::unique_ptr<Dataset>> open(std::vector<std::string> paths);
  /// The dataset; the test fails when it is refused.
  std::unique_ptr<Dataset> opened(std::vector<std::string> paths);
  /// The Error of a refusal; the test fails when there is none.
  Error refused(std::vector<std::string> paths);
};

std::vector<BlockRef> blocks_of(const Dataset& dataset);

/// The bytes of one block; the test fails when they are refused.
std::string read(BlockSource& source, std::uint64_t offset, std::uint64_t bytes);

/// The whole content of file number `file`, block by block.
std::string content_of(const Dataset& dataset, std::uint32_t file);

}  // namespace forebay::test
