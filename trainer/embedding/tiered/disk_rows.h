#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/store/rows/row_log.h"
#include "trainer/embedding/row_values.h"
#include "trainer/embedding/table_storage.h"

namespace forebay {

/// The rows of all tables, numbered through, on the disk: a row was written to it, or still has its
/// first values, which are not stored.
class DiskRows {
 public:
  /// `folder` is emptied by open().
  DiskRows(const TableLayout& layout, std::string folder);

  static std::uint64_t rows_of(const TableLayout& layout);
  static RowLog::Options options(const TableLayout& layout);
  /// Bytes of memory.
  static std::uint64_t memory_bytes(const TableLayout& layout);

  /// Opens the disk anew with the rows linked in `from`, empty: no rows. Does not change which rows
  /// count as written.
  Status open(const std::string& from);
  void close() { log_.reset(); }
  /// The open disk.
  RowLog& log() { return *log_; }

  std::uint64_t rows() const { return first_.back(); }
  /// The number of a table's first row.
  std::uint64_t first_of(std::size_t table) const { return first_[table]; }
  /// The table that has the row.
  std::size_t table_of(std::uint64_t number) const;
  bool has(std::int64_t number) const {
    return number >= 0 && static_cast<std::uint64_t>(number) < rows();
  }
  bool was_written(std::uint64_t number) const {
    return (written_[number / 8] >> (number % 8) & 1) != 0;
  }
  /// A bit a row: written.
  std::vector<std::uint8_t>& written() { return written_; }

  /// Writes the first weights of a row.
  void fill_first(std::size_t table, std::uint64_t number, std::span<float> weights) const {
    values_[table].fill(layout_.first_of(table) + static_cast<std::int64_t>(number - first_[table]),
                        weights);
  }

  /// Writes rows, which count as written from now on.
  Status write(std::span<const std::uint64_t> numbers, const RowLog::Fill& fill);
  /// Writes the weights of rows, with a state of 0, or replaces the state of rows, keeping their
  /// weights. `values` has the part of each row.
  Status write_part(std::span<const std::uint64_t> numbers, std::span<const float> values,
                    StateTensor::Part part);

 private:
  const TableLayout layout_;
  const std::string folder_;
  std::vector<std::uint64_t> first_;  ///< By table, and the end.
  std::vector<RowValues> values_;     ///< By table.
  std::vector<std::uint8_t> written_;
  std::unique_ptr<RowLog> log_;
};

}  // namespace forebay
