#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "actors/source/dataset.h"

namespace forebay::test {

/// A dataset that is only an index: `files[f]` rows of `row_bytes` bytes in file f, cut into
/// blocks of `rows_per_block`. Cannot be opened.
class FakeDataset : public Dataset {
 public:
  FakeDataset(const std::vector<std::uint64_t>& files, std::uint32_t rows_per_block,
              std::uint64_t row_bytes) {
    for (std::uint32_t file = 0; file < files.size(); ++file) {
      files_.push_back({"day_" + std::to_string(file),
                        "day_" + std::to_string(file),
                        files[file] * row_bytes,
                        files[file],
                        {}});
      for (std::uint64_t row = 0; row < files[file]; row += rows_per_block) {
        const auto rows =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(rows_per_block, files[file] - row));
        blocks_.push_back({file, rows, row * row_bytes, rows * row_bytes, row + 1});
      }
      rows_ += files[file];
      bytes_ += files[file] * row_bytes;
    }
  }

  const Format& format() const override { std::abort(); }
  const std::vector<DatasetFile>& files() const override { return files_; }
  std::size_t num_blocks() const override { return blocks_.size(); }
  BlockRef block(std::size_t i) const override { return blocks_[i]; }
  std::uint64_t rows() const override { return rows_; }
  std::uint64_t bytes() const override { return bytes_; }
  Digest fingerprint() const override { return {1, 2}; }
  Result<std::unique_ptr<BlockSource>> open(std::uint32_t) const override {
    return fail(Code::kNotFound, "a fake dataset has no files");
  }

 private:
  std::vector<DatasetFile> files_;
  std::vector<BlockRef> blocks_;
  std::uint64_t rows_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace forebay::test
