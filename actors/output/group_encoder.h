#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/output/batch_columns.h"
#include "actors/output/chunk_encoder.h"
#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/schema.h"

namespace forebay::parquet {

/// What the schema of a batch does not say of the file that holds its rows.
struct OutputShape {
  std::string label = "label";
  std::string weight = {};  ///< Name of the weights, where the schema has them.
  bool may_lack = false;    ///< Missing dense values are null; else none is missing.
  std::vector<bool> lists;  ///< Per sparse column: whether a row may have more than one id.
};

/// Returns the columns of a file with the rows of batches of `schema`: label, dense, sparse,
/// weight, extra. Ids with a bound are stored in 32 bits where it allows that.
std::vector<OutputColumn> columns_of(const Schema& schema, const OutputShape& shape);

/// Encodes batches as row groups of a file with the columns of columns_of().
///
/// Owns scratch memory and reuses it. Belongs to one thread.
class GroupEncoder {
 public:
  explicit GroupEncoder(std::vector<OutputColumn> columns) : columns_(std::move(columns)) {}

  /// Returns the row group with all rows of `batch`, at least one. kCorrupt names a column whose
  /// ids do not fit its type, or of which a row has more ids than the column may hold. The group's
  /// bytes lie in the memory of `used`, as far as that suffices.
  Result<EncodedGroup> encode(const Batch& batch, std::string used = {});

  /// Returns the most bytes that encode() takes beside the batch, its result included.
  static std::uint64_t peak_bytes(std::uint64_t batch_bytes);

 private:
  void add_label(const Batch& batch, EncodedGroup& group);
  void add_dense(const OutputColumn& column, std::span<const float> values, EncodedGroup& group);
  Status add_sparse(const OutputColumn& column, const SparseRows& rows, EncodedGroup& group);
  void find_levels(const OutputColumn& column, const SparseRows& rows);

  const std::vector<OutputColumn> columns_;
  ChunkEncoder encoder_;
  ChunkLevels levels_;
  std::vector<float> dense_;
  std::vector<std::uint32_t> words_;
};

}  // namespace forebay::parquet
