#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/source/dataset.h"
#include "actors/source/index/file_index.h"
#include "actors/source/stored/file_list.h"
#include "actors/source/text_blocks.h"
#include "actors/source/unit_blocks.h"

namespace forebay {

/// A file of a dataset, its index, and the paths of the files that its readers need.
struct IndexedFile {
  ListedFile listed;
  FileIndex index;
  std::string index_path;             ///< Holds the windows of the restart points.
  std::string other_index_path = {};  ///< Another run's index of the file; "": none.
  std::string spill_path;             ///< The decompressed copy; "": no copy.
  /// Of a file with units in a store: its metadata, if they were read for the index and are few.
  std::shared_ptr<const UnitFile> metadata = {};
};

/// The Dataset that open_dataset() returns. Builds its tables once, and opens the source that fits
/// the format and the storage of a file.
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
  bool in_grains() const override { return format_->units() != nullptr || is_remote_; }
  bool is_remote() const override { return is_remote_; }
  Result<std::unique_ptr<BlockSource>> open(std::uint32_t file) const override;
  /// Returns a reader of the decompressed content of a text file, for use by one thread.
  Result<std::unique_ptr<ByteSource>> open_content(std::uint32_t file) const;
  /// Reads the metadata of the first files in a store, many files at a time and as many as are
  /// kept, so that a run does not begin with waits for them. Errors as of open().
  Status read_metadata() const;

 private:
  std::unique_ptr<Format> format_;
  UnitFiles unit_files_;
  std::vector<IndexedFile> indexed_;
  std::vector<DatasetFile> files_;
  std::vector<std::size_t> first_block_;  // of each file; the last entry is the number of blocks
  RestartSource::Reads reads_;
  bool is_remote_ = false;
  std::uint64_t rows_ = 0;
  std::uint64_t bytes_ = 0;
  Digest fingerprint_;
};

/// Hashes the files' names, decompressed sizes and content digests, in order.
Digest fingerprint_of(const std::vector<DatasetFile>& files);

}  // namespace forebay
