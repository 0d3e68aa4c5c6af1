#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/source/dataset.h"
#include "actors/source/text_blocks.h"
#include "tests/support/temp_dir.h"

namespace forebay::test {

/// A folder for the files of a dataset, and the options to open it. Defaults: CSV without a header,
/// read in order, no decompressed copies.
struct DatasetFolder : TempDir {
  DatasetSpec spec;
  ColumnSpec columns;
  DatasetOptions options;
  std::vector<std::string> announced;
  std::atomic<std::uint64_t> bytes_read{0};  ///< Stored bytes read by open().

  DatasetFolder();
  Result<std::unique_ptr<Dataset>> open(std::vector<std::string> paths);
  /// Returns the dataset; the test fails if opening fails.
  std::unique_ptr<Dataset> opened(std::vector<std::string> paths);
  /// Returns the error of opening; the test fails if opening succeeds.
  Error refused(std::vector<std::string> paths);
};

/// Opens the decompressed content of file number `file` of a dataset of text.
Result<std::unique_ptr<ByteSource>> open_content(const Dataset& dataset, std::uint32_t file);

std::vector<BlockRef> blocks_of(const Dataset& dataset);

/// Returns `bytes` bytes from `offset`; the test fails if the read fails.
std::string read(ByteSource& source, std::uint64_t offset, std::uint64_t bytes);

/// Returns the whole content of file number `file`, read block by block.
std::string content_of(const Dataset& dataset, std::uint32_t file);

}  // namespace forebay::test
