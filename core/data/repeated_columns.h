#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"
#include "core/data/schema.h"

namespace forebay {

/// How much repeats in a group of columns. Bytes are those of the values and list lengths.
struct RepeatCount {
  std::uint64_t rows = 0;
  std::uint64_t unique = 0;  ///< Rows that are stored.
  std::uint64_t bytes = 0;   ///< Of all rows, as if each were stored.

  void operator+=(const RepeatCount& other) {
    rows += other.rows;
    unique += other.unique;
    bytes += other.bytes;
  }
  bool operator==(const RepeatCount&) const = default;
};

/// The mean of rows over unique rows of all groups, weighted by their bytes; 1 without groups.
double repeat_ratio(std::span<const RepeatCount> groups);

/// Returns what repeats in `rows` rows that refer to the sets of a group.
RepeatCount count_repeats(const RepeatedColumns& columns, std::size_t rows);

/// For each row of a set whether it is stored, as a byte of 0 or 1. Row 0 always is.
using StoredRows = std::span<const std::uint8_t>;

/// Returns which rows of `columns` differ from the row before them in a column of `group`: bits of
/// dense values, whole lists of ids. `columns` is not packed and has the group's columns in place.
std::vector<std::uint8_t> rows_that_differ(const ColumnSet& columns, const FeatureGroup& group);

/// Moves the columns of `group` to the end of `columns.repeated`: the rows in `stored` to memory of
/// their own, each other row as a reference to the last stored row before it, whatever values it
/// has itself. Where few rows repeat and `columns` has little else, the rows stay where they are,
/// and the set of the first group takes over the memory of `columns` (release_group()). Returns
/// what was counted.
RepeatCount store_once(ColumnSet& columns, const FeatureGroup& group, StoredRows stored,
                       BufferPool& pool);

/// Columns of a group from a decoder that looks for repeated rows itself.
struct DistinctColumns {
  ColumnSet columns;  ///< The group's; owns their memory.
  /// Of each column, the dense ones first: its StoredRows if it has entries for those rows only, or
  /// empty if it has an entry for each of the `columns.rows` rows.
  std::vector<std::vector<std::uint8_t>> stored = {};
};

/// Returns the set of a group that stores each row in which a column differs from the row before,
/// and writes where each row is in it, to `references`; the set's number is `set`. The columns stay
/// where they are if they store the same rows and few repeat.
ColumnSet join_distinct(DistinctColumns distinct, std::uint32_t set, UniqueRow* references,
                        BufferPool& pool);

/// Removes a group whose columns no reader needs any more; `columns` keeps memory that its other
/// columns are in.
void release_group(ColumnSet& columns, std::size_t group);

/// The most bytes that store_once() takes beside the columns, for all groups of `schema`.
std::size_t stored_once_bytes(const Schema& schema, std::size_t rows, std::size_t decoded_bytes);

/// Returns a column of a group with a value, or list, for each row of `columns`, and adds its
/// memory to `columns`. `column` is its index in the sets.
float* plain_dense(ColumnSet& columns, std::size_t group, std::size_t column, BufferPool& pool);
SparseColumn plain_sparse(ColumnSet& columns, std::size_t group, std::size_t column,
                          BufferPool& pool);

/// Returns the rows of `group` that `columns` names, each once, in the order in which they are
/// named first, as one set of its first columns; `indices` gets each row's index in it.
ColumnSet named_rows(const RepeatedColumns& columns, std::size_t rows, const FeatureGroup& group,
                     std::uint32_t* indices, BufferPool& pool);

}  // namespace forebay
