#include "tools/doctor/repeat_checks.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "actors/stage/stage_worker.h"
#include "core/data/buffer_pool.h"
#include "core/data/repeated_columns.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

constexpr std::size_t kMostLooked = 8 << 20;
constexpr double kLeastRatio = 2;
constexpr double kLeastShare = 0.1;
/// A column joins a group if the group's rows then differ at most so much more often.
constexpr double kMostMore = 1.05;

using Differs = std::vector<std::uint8_t>;

struct Column {
  FeatureGroup self;  // this column alone
  Differs differs;
  std::size_t bytes = 0;
};

std::size_t count_of(const Differs& differs) {
  return static_cast<std::size_t>(std::ranges::count(differs, 1));
}

Column column_of(const ColumnSet& columns, FeatureGroup self) {
  Column column{.self = std::move(self), .differs = {}, .bytes = 0};
  column.differs = rows_that_differ(columns, column.self);
  column.bytes = column.self.dense.size() * columns.rows * sizeof(float);
  for (const std::size_t feature : column.self.sparse) {
    column.bytes += columns.sparse[feature].count(columns.rows) * sizeof(std::int64_t);
  }
  return column;
}

std::vector<Column> columns_of(const ColumnSet& set) {
  std::vector<Column> all;
  for (std::size_t i = 0; i < set.dense.size(); ++i) all.push_back(column_of(set, {.dense = {i}}));
  for (std::size_t i = 0; i < set.sparse.size(); ++i) {
    all.push_back(column_of(set, {.dense = {}, .sparse = {i}}));
  }
  return all;
}

Differs either(const Differs& left, const Differs& right) {
  Differs both(left.size());
  std::ranges::transform(left, right, both.begin(), std::bit_or<std::uint8_t>());
  return both;
}

/// Takes the largest column and those that differ in the same rows out of `columns`.
Column take_group(std::vector<Column>& columns) {
  const auto largest = std::ranges::max_element(columns, {}, &Column::bytes);
  Column group = std::move(*largest);
  columns.erase(largest);
  std::erase_if(columns, [&](const Column& column) {
    Differs both = either(group.differs, column.differs);
    const auto before = static_cast<double>(count_of(group.differs));
    if (static_cast<double>(count_of(both)) > kMostMore * before) return false;
    group.differs = std::move(both);
    group.bytes += column.bytes;
    for (const std::size_t i : column.self.dense) group.self.dense.push_back(i);
    for (const std::size_t i : column.self.sparse) group.self.sparse.push_back(i);
    return true;
  });
  std::ranges::sort(group.self.dense);
  std::ranges::sort(group.self.sparse);
  return group;
}

std::string names_of(const FeatureGroup& group, const Schema& schema) {
  std::string names;
  const auto add = [&](const std::string& name) {
    names += (names.empty() ? "\"" : ", \"") + name + "\"";
  };
  for (const std::size_t i : group.dense) add(schema.dense[i]);
  for (const std::size_t i : group.sparse) add(schema.sparse[i].name);
  return "[" + names + "]";
}

/// The first blocks of the dataset, in file order; none if the first one is too large.
std::vector<BlockRef> first_blocks(const Dataset& dataset) {
  std::vector<BlockRef> blocks;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < dataset.num_blocks(); ++i) {
    bytes += dataset.block(i).loaded_bytes();
    if (bytes > kMostLooked) break;
    blocks.push_back(dataset.block(i));
  }
  return blocks;
}

/// How much the job's own groups repeat.
Finding own_groups(Decoded& decoded, const Schema& schema, BufferPool& pool) {
  const double ratio = repeat_ratio(store_repeated(decoded, schema, pool));
  const std::string what = "the values of columns.dedup come " + format_number(ratio, 1) +
                           " times in a row, and are stored once";
  if (ratio >= 1.2) return Finding::ok("repeats", what);
  return Finding::warn("repeats", what, "leave the key out: it saves no work");
}

}  // namespace

std::vector<SuggestedGroup> suggest_groups(const ColumnSet& columns) {
  std::vector<Column> left = columns_of(columns);
  const auto total =
      std::accumulate(left.begin(), left.end(), std::size_t{0},
                      [](std::size_t sum, const Column& column) { return sum + column.bytes; });
  std::erase_if(left, [&](const Column& column) {
    return static_cast<double>(count_of(column.differs)) * kLeastRatio >
           static_cast<double>(columns.rows);
  });
  std::vector<SuggestedGroup> groups;
  while (!left.empty()) {
    Column group = take_group(left);
    const double share = static_cast<double>(group.bytes) / static_cast<double>(total);
    if (share < kLeastShare) continue;
    groups.push_back({.features = std::move(group.self),
                      .rows = columns.rows,
                      .unique = count_of(group.differs),
                      .share = share});
  }
  return groups;
}

std::optional<Finding> check_repeats(const Dataset& dataset) {
  MemoryBudget budget(~std::size_t{0});
  BufferPool pool(budget);
  SplitReader reader(dataset, pool);
  auto blocks = first_blocks(dataset);
  if (blocks.empty()) return std::nullopt;
  auto raw = reader.read(std::move(blocks));
  if (!raw) return Finding::bad("repeats", raw.error());
  const Format& format = dataset.format();
  Decoded decoded = format.decode(*raw, {}, pool);
  if (decoded.damaged || decoded.miscounted || decoded.columns.rows == 0) return std::nullopt;
  const Schema& schema = format.schema();
  if (!schema.repeated.empty()) return own_groups(decoded, schema, pool);
  std::string what;
  std::string keys;
  for (const SuggestedGroup& group : suggest_groups(decoded.columns)) {
    const std::string names = names_of(group.features, schema);
    what += (what.empty() ? "" : "; ") + std::string("the values of ") + names + " come " +
            format_number(group.ratio(), 1) + " times in a row, and are " +
            format_percent(group.share) + " of the features' bytes";
    keys += (keys.empty() ? "" : ", ") + names;
  }
  if (what.empty()) return std::nullopt;
  return Finding::warn("repeats", what,
                       "with columns.dedup = [" + keys + "] each is parsed, moved and sent once");
}

}  // namespace forebay
