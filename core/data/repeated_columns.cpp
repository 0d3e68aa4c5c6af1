#include "core/data/repeated_columns.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <memory>
#include <numeric>
#include <utility>

#include "core/base/check.h"

namespace forebay {
namespace {

std::span<const std::int64_t> ids_of(const SparseColumn& column, std::size_t row) {
  const std::size_t first = column.first_id(row);
  return {column.values + first, column.first_id(row + 1) - first};
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

/// A row of a set, to be copied.
struct Source {
  const ColumnSet* set = nullptr;
  std::size_t row = 0;
};

/// Copies column `column` of each source row.
template <class SourceOf>
void copy_dense(std::size_t rows, std::size_t column, const SourceOf& source_of, float* to) {
  for (std::size_t row = 0; row < rows; ++row) {
    const Source source = source_of(row);
    to[row] = source.set->dense[column][source.row];
  }
}

template <class SourceOf>
std::size_t ids_in(std::size_t rows, std::size_t column, const SourceOf& source_of) {
  std::size_t ids = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const Source source = source_of(row);
    ids += ids_of(source.set->sparse[column], source.row).size();
  }
  return ids;
}

/// `to` has offsets, unless every list has one id.
template <class SourceOf>
void copy_sparse(std::size_t rows, std::size_t column, const SourceOf& source_of,
                 const SparseColumn& to) {
  if (to.offsets != nullptr) to.offsets[0] = 0;
  std::int64_t* end = to.values;
  for (std::size_t row = 0; row < rows; ++row) {
    const Source source = source_of(row);
    const auto ids = ids_of(source.set->sparse[column], source.row);
    if (!ids.empty()) std::memcpy(end, ids.data(), ids.size_bytes());
    end += ids.size();
    if (to.offsets != nullptr) to.offsets[row + 1] = static_cast<std::int32_t>(end - to.values);
  }
}

template <class SourceOf>
bool has_one_each(std::size_t rows, std::size_t column, const SourceOf& source_of) {
  const ColumnSet* last = nullptr;
  for (std::size_t row = 0; row < rows; ++row) {
    const ColumnSet* set = source_of(row).set;
    if (set == std::exchange(last, set)) continue;
    if (set->sparse[column].offsets != nullptr) return false;
  }
  return true;
}

/// The memory that a copied list column takes.
struct ListShape {
  std::size_t rows = 0;
  std::size_t ids = 0;
  bool is_list = false;  // has offsets

  std::size_t bytes() const {
    return SlabCarver::aligned<std::int64_t>(ids) +
           (is_list ? SlabCarver::aligned<std::int32_t>(rows + 1) : 0);
  }
  SparseColumn carve(SlabCarver& carver) const {
    SparseColumn column;
    column.values = carver.take<std::int64_t>(ids);
    if (is_list) column.offsets = carver.take<std::int32_t>(rows + 1);
    return column;
  }
};

template <class SourceOf>
ListShape shape_of(std::size_t rows, std::size_t column, const SourceOf& source_of) {
  return {.rows = rows,
          .ids = ids_in(rows, column, source_of),
          .is_list = !has_one_each(rows, column, source_of)};
}

/// Copies the first columns of each source row, as many as `group` has, into one slab.
template <class SourceOf>
ColumnSet copied_set(std::size_t rows, const FeatureGroup& group, const SourceOf& source_of,
                     BufferPool& pool) {
  ColumnSet set;
  set.rows = rows;
  std::vector<ListShape> shapes;
  std::size_t bytes = group.dense.size() * SlabCarver::aligned<float>(rows);
  for (std::size_t i = 0; i < group.sparse.size(); ++i) {
    shapes.push_back(shape_of(rows, i, source_of));
    bytes += shapes.back().bytes();
  }
  set.slabs.push_back(pool.take(bytes));
  SlabCarver carver(set.slabs.back().data());
  for (std::size_t i = 0; i < group.dense.size(); ++i) {
    set.dense.push_back(carver.take<float>(rows));
    copy_dense(rows, i, source_of, set.dense.back());
  }
  for (std::size_t i = 0; i < group.sparse.size(); ++i) {
    set.sparse.push_back(shapes[i].carve(carver));
    copy_sparse(rows, i, source_of, set.sparse.back());
  }
  return set;
}

/// Where the columns of a group have each row of `columns`.
auto sources_in(const RepeatedColumns& columns) {
  return [&columns](std::size_t row) {
    const UniqueRow at = columns.rows[row];
    return Source{columns.sets[at.set].get(), at.row};
  };
}

/// Gives each row its place among the stored rows; returns how many those are.
std::uint32_t number_rows(StoredRows stored, UniqueRow* rows) {
  std::uint32_t unique = 0;
  for (std::size_t row = 0; row < stored.size(); ++row) {
    unique += row == 0 || stored[row] != 0 ? 1 : 0;
    rows[row] = {.set = 0, .row = unique - 1};
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

/// Whether copying the stored rows of `group` costs more than keeping all memory of the columns for
/// them: most rows are stored, and most of the memory is theirs.
bool stays_in_place(const ColumnSet& group, std::size_t rows, std::size_t unique,
                    const std::vector<Buffer>& slabs) {
  std::size_t own = rows * sizeof(float) * group.dense.size();
  for (const SparseColumn& column : group.sparse) {
    own += column.count(rows) * sizeof(std::int64_t);
    if (column.offsets != nullptr) own += rows * sizeof(std::int32_t);
  }
  std::size_t all = 0;
  for (const Buffer& slab : slabs) all += slab.size();
  return unique * 4 >= rows * 3 && own * 3 >= all * 2;
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

/// Bytes of a group's values and lengths, of all rows as if each were stored.
std::uint64_t plain_bytes(const RepeatedColumns& columns, std::size_t rows) {
  const ColumnSet& set = *columns.sets.front();
  std::uint64_t bytes = rows * set.dense.size() * sizeof(float);
  for (std::size_t i = 0; i < set.sparse.size(); ++i) {
    bytes += ids_in(rows, i, sources_in(columns)) * sizeof(std::int64_t);
    if (set.sparse[i].offsets != nullptr) bytes += rows * sizeof(std::int32_t);
  }
  return bytes;
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

std::vector<std::uint8_t> rows_that_differ(const ColumnSet& columns, const FeatureGroup& group) {
  std::vector<std::uint8_t> differs(columns.rows, 0);
  if (columns.rows > 0) differs.front() = 1;
  for (const std::size_t feature : group.dense)
    mark_values<std::uint32_t>(columns.dense[feature], differs);
  for (const std::size_t feature : group.sparse) {
    const SparseColumn& column = columns.sparse[feature];
    if (column.offsets == nullptr) {
      mark_values<std::uint64_t>(column.values, differs);
    } else {
      mark_lists(column, differs);
    }
  }
  return differs;
}

RepeatCount store_once(ColumnSet& columns, const FeatureGroup& group, StoredRows stored,
                       BufferPool& pool) {
  FOREBAY_CHECK(stored.size() == columns.rows && !columns.packed);
  const std::size_t rows = columns.rows;
  Buffer references = pool.take(rows * sizeof(UniqueRow));
  RepeatedColumns repeated{.sets = {}, .rows = references.as<UniqueRow>()};
  const std::size_t unique = number_rows(stored, repeated.rows);
  ColumnSet given = take_out(columns, group);
  if (columns.repeated.empty() && stays_in_place(given, rows, unique, columns.slabs)) {
    // The set has all memory of `columns`, which has the set.
    given.rows = rows;
    given.slabs = std::exchange(columns.slabs, {});
    repeated.sets.push_back(std::make_shared<ColumnSet>(std::move(given)));
    refer_in_place(stored, repeated.rows);
  } else {
    const std::vector<std::uint32_t> kept = stored_rows(unique, rows, repeated.rows);
    const auto source_of = [&](std::size_t row) { return Source{&given, kept[row]}; };
    repeated.sets.push_back(
        std::make_shared<ColumnSet>(copied_set(unique, group, source_of, pool)));
  }
  columns.slabs.push_back(std::move(references));
  const RepeatCount count{.rows = rows, .unique = unique, .bytes = plain_bytes(repeated, rows)};
  columns.repeated.push_back(std::move(repeated));
  return count;
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
  copy_dense(columns.rows, column, sources_in(columns.repeated[group]), to);
  return to;
}

SparseColumn plain_sparse(ColumnSet& columns, std::size_t group, std::size_t column,
                          BufferPool& pool) {
  const auto source_of = sources_in(columns.repeated[group]);
  const ListShape shape = shape_of(columns.rows, column, source_of);
  columns.slabs.push_back(pool.take(shape.bytes()));
  SlabCarver carver(columns.slabs.back().data());
  const SparseColumn to = shape.carve(carver);
  copy_sparse(columns.rows, column, source_of, to);
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
  return copied_set(named.size(), group, sources_in(once), pool);
}

}  // namespace forebay
