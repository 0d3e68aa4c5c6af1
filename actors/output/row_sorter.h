#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/buffer_pool.h"
#include "core/data/schema.h"

namespace forebay {

/// A column of batches by which rows are sorted.
struct SortColumn {
  enum class Kind : std::uint8_t { kLabel, kDense, kSparse, kWeight, kInteger, kReal };
  Kind kind = Kind::kLabel;
  std::size_t number = 0;  ///< Among those of its kind; extra columns are one kind.

  /// Finds the column `name`; `label` and `weight` are the names of those two. kInvalid names the
  /// columns that there are.
  static Result<SortColumn> find(const Schema& schema, const std::string& label,
                                 const std::string& weight, const std::string& name);

  /// Returns a number that orders the rows of `batch`: numbers and ids upwards, of a list its first
  /// id, `first_id`; what is missing or no number comes last.
  std::uint64_t key(const Batch& batch, std::size_t row, const std::int64_t* first_id) const;
};

/// Sorts the rows of consecutive batches: a run of them is held, sorted and given out as other
/// batches, then the next one. Equal rows keep their order.
///
/// What a run has depends on the batches alone. Belongs to one thread; `pool` must outlive it and
/// the batches.
class RowSorter {
 public:
  /// A run ends with the batch by which it takes this much.
  static constexpr std::uint64_t kRunBytes = std::uint64_t{128} << 20;
  /// Returns the most bytes of a run of batches of at most `batch` bytes and `rows` rows.
  static std::uint64_t most_bytes(std::uint64_t batch, std::uint64_t rows);

  RowSorter(SortColumn column, BufferPool& pool, std::uint64_t run_bytes = kRunBytes)
      : column_(column), pool_(pool), run_bytes_(run_bytes) {}

  /// Copies the rows of `batch`. Requires that the last run is given out.
  void add(const Batch& batch);
  bool full() const { return bytes_ >= run_bytes_; }
  /// Returns the next at most `rows` rows of the run; nullptr after the last, and the run is empty.
  std::shared_ptr<const Batch> next(std::size_t rows);

 private:
  /// The record of a row: its bytes lie together, since rows are given out from all over the run.
  struct Row {
    std::uint64_t key;
    std::uint32_t batch;  ///< Of records_.
    std::uint32_t offset;
  };

  std::size_t values_bytes() const;
  void sort();
  const std::byte* record(const Row& row) const { return records_[row.batch].data() + row.offset; }
  Batch room_for(std::span<const Row> rows) const;
  void gather_values(std::span<const Row> rows, const Batch& batch) const;
  void gather_ids(std::span<const Row> rows, const Batch& batch) const;

  const SortColumn column_;
  BufferPool& pool_;
  const std::uint64_t run_bytes_;
  std::uint64_t bytes_ = 0;
  Batch like_;                   // has the numbers of columns
  std::vector<Buffer> records_;  // by batch
  std::vector<Row> rows_;        // of the run; sorted once its first rows are given out
  std::size_t given_ = 0;        // of rows_
};

}  // namespace forebay
