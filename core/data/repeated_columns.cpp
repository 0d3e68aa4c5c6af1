#include "core/data/repeated_columns.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <memory>
#include <numeric>
#include <utility>

#include "core/base/check.h"
#include "core/data/copied_set.h"

namespace forebay {
namespace {

using copying::copied_set;
using copying::ids_of;
using copying::Source;
using copying::Width;

/// StoredRows in which only the first row is.
std::vector<std::uint8_t> first_row_of(std::size_t rows) {
  std::vector<std::uint8_t> stored(rows, 0);
  if (rows > 0) stored.front() = 1;
  return stored;
}

void mark_lists(const SparseColumn& column, std::vector<std::uint8_t>& differs) {
  for (std::size_t row = 1; row < differs.size(); ++row) {
    if (differs[row] != 0) continue;
    const auto before = ids_of(column, row - 1);
    const auto ids = ids_of(column, row);
    differs[row] = before.size() != ids.size() ||
                   std::memcmp(before.data(), ids.data(), ids.size_bytes()) != 0;
  }
}

/// `Bits` is the unsigned type of a value's size: two values of the same bits are the same.
template <class Bits, class T>
void mark_values(const T* values, std::vector<std::uint8_t>& differs) {
  for (std::size_t row = 1; row < differs.size(); ++row) {
    differs[row] |= std::bit_cast<Bits>(values[row]) != std::bit_cast<Bits>(values[row - 1]);
  }
}

void mark_column(const SparseColumn& column, std::vector<std::uint8_t>& differs) {
  if (column.offsets != nullptr) return mark_lists(column, differs);
  mark_values<std::uint64_t>(column.values, differs);
}

/// Where the columns of a group have each row of `columns`.
auto sources_in(const RepeatedColumns& columns) {
  return [&columns](std::size_t row) {
    const UniqueRow at = columns.rows[row];
    return Source{columns.sets[at.set].get(), at.row};
  };
}

/// Gives each row its place among the stored rows of set number `set`; returns how many those are.
std::uint32_t number_rows(StoredRows stored, std::uint32_t set, UniqueRow* rows) {
  std::uint32_t unique = 0;
  for (std::size_t row = 0; row < stored.size(); ++row) {
    unique += row == 0 || stored[row] != 0 ? 1 : 0;
    rows[row] = {.set = set, .row = unique - 1};
  }
  return unique;
}

/// Refers each row to the stored row before it, by its number among all rows.
void refer_in_place(StoredRows stored, UniqueRow* rows) {
  std::uint32_t last = 0;
  for (std::size_t row = 0; row < stored.size(); ++row) {
    if (stored[row] != 0) last = static_cast<std::uint32_t>(row);
    rows[row] = {.set = 0, .row = last};
  }
}

/// The numbers of the stored rows among all rows.
std::vector<std::uint32_t> stored_rows(std::size_t unique, std::size_t rows,
                                       const UniqueRow* references) {
  std::vector<std::uint32_t> kept(unique);
  for (std::size_t row = rows; row > 0; --row) {
    kept[references[row - 1].row] = static_cast<std::uint32_t>(row - 1);
  }
  return kept;
}

/// Whether so few rows repeat that copying the others costs more than keeping the memory of all.
bool few_repeat(std::size_t unique, std::size_t rows) { return unique * 4 >= rows * 3; }

/// Whether most of the memory of `slabs` belongs to the columns of `group`.
bool has_most_memory(const ColumnSet& group, std::size_t rows, const std::vector<Buffer>& slabs) {
  std::size_t own = rows * sizeof(float) * group.dense.size();
  for (const SparseColumn& column : group.sparse) {
    own += column.count(rows) * sizeof(std::int64_t);
    if (column.offsets != nullptr) own += rows * sizeof(std::int32_t);
  }
  std::size_t all = 0;
  for (const Buffer& slab : slabs) all += slab.size();
  return own * 3 >= all * 2;
}

/// Takes the columns of a group out of `columns`, without their memory.
ColumnSet take_out(ColumnSet& columns, const FeatureGroup& group) {
  ColumnSet taken;
  for (const std::size_t feature : group.dense) {
    taken.dense.push_back(std::exchange(columns.dense[feature], nullptr));
  }
  for (const std::size_t feature : group.sparse) {
    taken.sparse.push_back(std::exchange(columns.sparse[feature], {}));
  }
  return taken;
}

/// How often the rows of each set are referred to.
std::vector<std::vector<std::uint32_t>> times_named(const RepeatedColumns& columns,
                                                    std::size_t rows) {
  std::vector<std::vector<std::uint32_t>> times;
  for (const auto& set : columns.sets) times.emplace_back(set->rows);
  for (std::size_t row = 0; row < rows; ++row) {
    ++times[columns.rows[row].set][columns.rows[row].row];
  }
  return times;
}

/// Bytes of the values and list lengths of a set's rows, each as often as `times` says.
std::uint64_t plain_bytes(const ColumnSet& set, const std::vector<std::uint32_t>& times) {
  const auto rows = std::accumulate(times.begin(), times.end(), std::uint64_t{0});
  std::uint64_t bytes = rows * set.dense.size() * sizeof(float);
  for (const SparseColumn& column : set.sparse) {
    if (column.offsets != nullptr) bytes += rows * sizeof(std::int32_t);
    for (std::size_t row = 0; row < times.size(); ++row) {
      bytes += times[row] * ids_of(column, row).size_bytes();
    }
  }
  return bytes;
}

/// The rows in which a column of `distinct` differs from the row before.
std::vector<std::uint8_t> stored_rows_of(const DistinctColumns& distinct) {
  const ColumnSet& columns = distinct.columns;
  std::vector<std::uint8_t> any = first_row_of(columns.rows);
  for (std::size_t i = 0; i < distinct.stored.size(); ++i) {
    const std::vector<std::uint8_t>& stored = distinct.stored[i];
    for (std::size_t row = 0; row < stored.size(); ++row) any[row] |= stored[row];
    if (!stored.empty()) continue;
    if (i < columns.dense.size()) {
      mark_values<std::uint32_t>(columns.dense[i], any);
    } else {
      mark_column(columns.sparse[i - columns.dense.size()], any);
    }
  }
  return any;
}

/// For each row in `rows` the number of the entry that a column has for it whose StoredRows are
/// `stored`, or which has an entry for each row.
std::vector<std::uint32_t> entries_of(StoredRows stored, StoredRows rows) {
  std::vector<std::uint32_t> entries;
  std::uint32_t next = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    next += stored.empty() ? 1 : stored[row];
    if (rows[row] != 0) entries.push_back(next - 1);
  }
  return entries;
}

}  // namespace

double repeat_ratio(std::span<const RepeatCount> groups) {
  double bytes = 0;
  double weighted = 0;
  for (const RepeatCount& group : groups) {
    if (group.unique == 0) continue;
    const auto own = static_cast<double>(group.bytes);
    bytes += own;
    weighted += own * static_cast<double>(group.rows) / static_cast<double>(group.unique);
  }
  return bytes > 0 ? weighted / bytes : 1;
}

RepeatCount count_repeats(const RepeatedColumns& columns, std::size_t rows) {
  RepeatCount count{.rows = rows};
  const std::vector<std::vector<std::uint32_t>> times = times_named(columns, rows);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto unnamed = std::ranges::count(times[i], std::uint32_t{0});
    count.unique += times[i].size() - static_cast<std::size_t>(unnamed);
    count.bytes += plain_bytes(*columns.sets[i], times[i]);
  }
  return count;
}

std::vector<std::uint8_t> rows_that_differ(const ColumnSet& columns, const FeatureGroup& group) {
  std::vector<std::uint8_t> differs = first_row_of(columns.rows);
  for (const std::size_t feature : group.dense)
    mark_values<std::uint32_t>(columns.dense[feature], differs);
  for (const std::size_t feature : group.sparse) mark_column(columns.sparse[feature], differs);
  return differs;
}

RepeatCount store_once(ColumnSet& columns, const FeatureGroup& group, StoredRows stored,
                       BufferPool& pool) {
  FOREBAY_CHECK(stored.size() == columns.rows && !columns.packed);
  const std::size_t rows = columns.rows;
  Buffer references = pool.take(rows * sizeof(UniqueRow));
  RepeatedColumns repeated{.sets = {}, .rows = references.as<UniqueRow>()};
  const std::size_t unique = number_rows(stored, 0, repeated.rows);
  ColumnSet given = take_out(columns, group);
  if (columns.repeated.empty() && few_repeat(unique, rows) &&
      has_most_memory(given, rows, columns.slabs)) {
    // The set has all memory of `columns`, which has the set.
    given.rows = rows;
    given.slabs = std::exchange(columns.slabs, {});
    repeated.sets.push_back(std::make_shared<ColumnSet>(std::move(given)));
    refer_in_place(stored, repeated.rows);
  } else {
    const std::vector<std::uint32_t> kept = stored_rows(unique, rows, repeated.rows);
    const auto source_of = [&](std::size_t, std::size_t row) { return Source{&given, kept[row]}; };
    repeated.sets.push_back(
        std::make_shared<ColumnSet>(copied_set(unique, Width::of(group), source_of, pool)));
  }
  columns.slabs.push_back(std::move(references));
  const RepeatCount count = count_repeats(repeated, rows);
  columns.repeated.push_back(std::move(repeated));
  return count;
}

ColumnSet join_distinct(DistinctColumns distinct, std::uint32_t set, UniqueRow* references,
                        BufferPool& pool) {
  const std::vector<std::uint8_t> stored = stored_rows_of(distinct);
  const std::size_t unique = number_rows(stored, set, references);
  // By column; empty: its entries are numbered like the rows of the set.
  std::vector<std::vector<std::uint32_t>> entries;
  bool all_are_numbered = true;
  for (const std::vector<std::uint8_t>& column : distinct.stored) {
    const bool is_numbered = column.empty() ? unique == stored.size() : column == stored;
    all_are_numbered = all_are_numbered && is_numbered;
    entries.push_back(is_numbered ? std::vector<std::uint32_t>() : entries_of(column, stored));
  }
  ColumnSet& given = distinct.columns;
  if (all_are_numbered && few_repeat(unique, stored.size())) {
    given.rows = unique;
    return std::move(given);
  }
  const auto source_of = [&](std::size_t column, std::size_t row) {
    return Source{&given, entries[column].empty() ? row : entries[column][row]};
  };
  return copied_set(unique, {given.dense.size(), given.sparse.size()}, source_of, pool);
}

// Parts share their sets, but have their other columns in memory of their own.
void release_group(ColumnSet& columns, std::size_t group) {
  for (const auto& set : columns.repeated[group].sets) {
    if (set.use_count() > 1) continue;
    std::ranges::move(set->slabs, std::back_inserter(columns.slabs));
  }
  columns.repeated.erase(columns.repeated.begin() + static_cast<std::ptrdiff_t>(group));
}

std::size_t stored_once_bytes(const Schema& schema, std::size_t rows, std::size_t decoded_bytes) {
  if (schema.repeated.empty()) return 0;
  return decoded_bytes + schema.repeated.size() * pool_bytes(rows * sizeof(UniqueRow));
}

float* plain_dense(ColumnSet& columns, std::size_t group, std::size_t column, BufferPool& pool) {
  columns.slabs.push_back(pool.take(columns.rows * sizeof(float)));
  auto* to = columns.slabs.back().as<float>();
  copying::copy_dense(columns.rows, column, sources_in(columns.repeated[group]), to);
  return to;
}

SparseColumn plain_sparse(ColumnSet& columns, std::size_t group, std::size_t column,
                          BufferPool& pool) {
  const auto source_of = sources_in(columns.repeated[group]);
  const copying::ListShape shape = copying::shape_of(columns.rows, column, source_of);
  columns.slabs.push_back(pool.take(shape.bytes()));
  SlabCarver carver(columns.slabs.back().data());
  const SparseColumn to = shape.carve(carver);
  copying::copy_sparse(columns.rows, column, source_of, to);
  return to;
}

ColumnSet named_rows(const RepeatedColumns& columns, std::size_t rows, const FeatureGroup& group,
                     std::uint32_t* indices, BufferPool& pool) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::size_t> first{0};  // of each set, in `index`
  for (const auto& set : columns.sets) first.push_back(first.back() + set->rows);
  std::vector<std::uint32_t> index(first.back(), kNone);
  std::vector<UniqueRow> named;
  for (std::size_t row = 0; row < rows; ++row) {
    const UniqueRow at = columns.rows[row];
    std::uint32_t& own = index[first[at.set] + at.row];
    if (own == kNone) {
      own = static_cast<std::uint32_t>(named.size());
      named.push_back(at);
    }
    indices[row] = own;
  }
  const RepeatedColumns once{.sets = columns.sets, .rows = named.data()};
  const auto source_of = [at = sources_in(once)](std::size_t, std::size_t row) { return at(row); };
  return copied_set(named.size(), Width::of(group), source_of, pool);
}

}  // namespace forebay
