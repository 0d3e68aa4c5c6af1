#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/source/dataset.h"
#include "actors/source/file_index.h"
#include "actors/source/file_list.h"
#include "actors/source/restart_source.h"

namespace forebay {

/// A file of a dataset, its index, and where its content can be read.
struct IndexedFile {
  ListedFile listed;
  FileIndex index;
  std::string index_path;             ///< Holds the windows of its restart points.
  std::string other_index_path = {};  ///< Where another run may have put them; "": nowhere.
  std::string spill_path;             ///< Its content written decompressed; "": there is none.
};

/// The Dataset that open_dataset gives: tables made once, and a source for each kind of file.
class IndexedDataset final : public Dataset {
 public:
  IndexedDataset(std::unique_ptr<Format> format, std::vector<IndexedFile> files,
                 RestartSource::Reads reads);

  const Format& format() const override { return *format_; }
  const std::vector<DatasetFile>& files() const override { return files_; }
  std::size_t num_blocks() const override { return first_block_.back(); }
  BlockRef block(std::size_t i) const override;
  std::uint64_t rows() const override { return rows_; }
  std::uint64_t bytes() const override { return bytes_; }
  Digest fingerprint() const override { return fingerprint_; }
  Result<std::unique_ptr<BlockSource>> open(std::uint32_t file) const override;

 private:
  std::unique_ptr<Format> format_;
  std::vector<IndexedFile> indexed_;
  std::vector<DatasetFile> files_;
  std::vector<std::size_t> first_block_;  // of each file, and the number of blocks at the end
  RestartSource::Reads reads_;
  std::uint64_t rows_ = 0;
  std::uint64_t bytes_ = 0;
  Digest fingerprint_;
};

/// Hashes names, decompressed sizes and content digests, in order.
Digest fingerprint_of(const std::vector<DatasetFile>& files);

}  // namespace forebay
