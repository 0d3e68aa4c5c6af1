#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/output/chunk_encoder.h"
#include "actors/output/npy.h"
#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/schema.h"
#include "engine/convert/file_commits.h"

namespace forebay {

/// Rows that are ready to be appended to an output: those of one batch. An encoder uses its memory
/// again.
struct EncodedRows {
  std::uint64_t rows = 0;
  parquet::EncodedGroup group;         ///< Of Parquet.
  npy::Rows matrices;                  ///< Of npy.
  std::shared_ptr<const Batch> batch;  ///< Of npy: holds the dense values.
};

/// Encodes batches; belongs to one thread.
class RowEncoder {
 public:
  virtual ~RowEncoder() = default;
  /// The result lies in the memory of `used`, rows that were written, as far as that suffices.
  virtual Result<EncodedRows> encode(std::shared_ptr<const Batch> batch, EncodedRows used) = 0;
};

/// Writes the output files that one input file gives, and hands those that are complete to
/// FileCommits; a file that is not complete is removed by the destructor. Belongs to one thread.
class RowWriter {
 public:
  virtual ~RowWriter() = default;
  /// Leaves the memory of `rows` for other rows.
  virtual Status add(EncodedRows& rows) = 0;
  /// Ends the last file.
  virtual Status finish() = 0;

  /// Returns the bytes of each complete file, in the order of their paths.
  const std::vector<std::uint64_t>& sizes() const { return sizes_; }

 protected:
  std::vector<std::uint64_t> sizes_;
};

/// What `forebay convert` writes: Parquet or npy. Immutable; any thread may use it.
class OutputKind {
 public:
  /// Rows of a batch, and of a row group.
  static constexpr std::uint64_t kGroupRows = 8192;

  virtual ~OutputKind() = default;
  /// Returns the paths of the files for an input file of at most `rows` rows. `stem` is their
  /// path without what the kind adds.
  virtual std::vector<std::string> paths(const std::string& stem, std::uint64_t rows) const = 0;
  virtual std::unique_ptr<RowEncoder> encoder() const = 0;
  /// `paths` are those of paths(); `commits` must outlive the writer.
  virtual std::unique_ptr<RowWriter> writer(std::vector<std::string> paths,
                                            FileCommits& commits) const = 0;
  /// Returns the most bytes that an encoder and its result take beside a batch of `batch` bytes.
  virtual std::uint64_t encoder_bytes(std::uint64_t batch) const = 0;
  /// Returns the most bytes that a writer keeps.
  virtual std::uint64_t writer_bytes() const = 0;
};

/// Parquet: row groups of kGroupRows rows, one page a column chunk, an offset index. An input file
/// of many rows gives several files, so that no footer becomes large.
std::unique_ptr<OutputKind> parquet_output(std::vector<parquet::OutputColumn> columns);

/// The three matrices of MLPerf's and TorchRec's layout: STEM_dense.npy, STEM_sparse.npy and
/// STEM_labels.npy.
std::unique_ptr<OutputKind> npy_output(const Schema& schema);

}  // namespace forebay
