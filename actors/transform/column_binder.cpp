#include "actors/transform/column_binder.h"

#include <algorithm>

#include <fnmatch.h>

namespace forebay {
namespace {

bool is_pattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

const char* word(ColumnKind kind) { return kind == ColumnKind::kDense ? "dense" : "sparse"; }

std::string quoted(const std::string& name) { return '"' + name + '"'; }

}  // namespace

ColumnSlots::ColumnSlots(const Schema& decoded)
    : columns_(decoded),
      dense_(decoded.dense.size(), true),
      sparse_(decoded.sparse.size(), true),
      live_names_(decoded.dense.begin(), decoded.dense.end()) {
  for (const SparseFeature& feature : decoded.sparse) live_names_.insert(feature.name);
}

std::size_t ColumnSlots::add(ColumnKind kind, const SparseFeature& column) {
  live_names_.insert(column.name);
  live(kind).push_back(true);
  if (kind == ColumnKind::kSparse) {
    columns_.sparse.push_back(column);
  } else {
    columns_.dense.push_back(column.name);
  }
  return live(kind).size() - 1;
}

void ColumnSlots::drop(ColumnRef column) {
  if (!is_live(column)) return;
  live(column.kind)[column.index] = false;
  live_names_.erase(live_names_.find(name_of(column)));
}

const std::string& ColumnSlots::name_of(ColumnRef column) const {
  return column.kind == ColumnKind::kDense ? columns_.dense[column.index]
                                           : columns_.sparse[column.index].name;
}

std::vector<std::size_t> ColumnSlots::live_slots(ColumnKind kind) const {
  std::vector<std::size_t> slots;
  for (std::size_t i = 0; i < live(kind).size(); ++i) {
    if (live(kind)[i]) slots.push_back(i);
  }
  return slots;
}

Schema ColumnSlots::live_schema() const {
  Schema schema = columns_;
  schema.dense.clear();
  schema.sparse.clear();
  for (const std::size_t i : live_slots(ColumnKind::kDense)) {
    schema.dense.push_back(columns_.dense[i]);
  }
  for (const std::size_t i : live_slots(ColumnKind::kSparse)) {
    schema.sparse.push_back(columns_.sparse[i]);
  }
  return schema;
}

void ColumnBinder::match(const std::string& pattern, const std::vector<ColumnKind>& kinds,
                         std::vector<ColumnRef>& found) {
  bool any = false;
  bool right = false;
  // A column of exactly that name is meant, even if the name looks like a pattern.
  const bool is_name = !is_pattern(pattern) || slots_.has(pattern);
  const auto visit = [&](ColumnRef column) {
    const std::string& name = name_of(column);
    if (is_name ? name != pattern : fnmatch(pattern.c_str(), name.c_str(), 0) != 0) return;
    any = true;
    if (std::find(kinds.begin(), kinds.end(), column.kind) == kinds.end()) return;
    right = true;
    if (std::find(found.begin(), found.end(), column) == found.end()) found.push_back(column);
  };
  for (const ColumnKind kind : {ColumnKind::kDense, ColumnKind::kSparse}) {
    for (const std::size_t i : slots_.live_slots(kind)) visit({kind, i});
  }
  if (!any) {
    request_.refuse("columns", is_name
                                   ? "no column " + quoted(pattern) + did_you_mean(pattern, names())
                                   : quoted(pattern) + " matches no column");
  } else if (!right) {
    const ColumnKind needed = kinds.front();
    const ColumnKind given =
        needed == ColumnKind::kDense ? ColumnKind::kSparse : ColumnKind::kDense;
    request_.refuse("columns", quoted(pattern) + " is " + word(given) + ", the operator takes " +
                                   word(needed) + " columns");
  }
}

std::vector<ColumnRef> ColumnBinder::of(const std::vector<ColumnKind>& kinds) {
  std::vector<ColumnRef> found;
  if (request_.spec().columns.empty()) request_.refuse("columns", "name at least one column");
  for (const std::string& pattern : request_.spec().columns) match(pattern, kinds, found);
  return found;
}

std::vector<std::size_t> ColumnBinder::of_kind(ColumnKind kind) {
  std::vector<std::size_t> indices;
  for (const ColumnRef column : of({kind})) indices.push_back(column.index);
  return indices;
}

std::vector<std::size_t> ColumnBinder::sparse_pair() {
  std::vector<std::size_t> pair = of_kind(ColumnKind::kSparse);
  const auto& columns = request_.spec().columns;
  if (pair.size() == 1 && columns.size() == 2 && columns[0] == columns[1]) pair.push_back(pair[0]);
  if (pair.size() != 2) {
    request_.refuse("columns", "takes two columns, not " + std::to_string(pair.size()));
    return {};
  }
  return pair;
}

std::size_t ColumnBinder::sparse_named(const std::string& key, const std::string& name) {
  for (const std::size_t i : slots_.live_slots(ColumnKind::kSparse)) {
    if (schema_.sparse[i].name == name) return i;
  }
  request_.refuse(key, quoted(name) + " is no sparse column" + did_you_mean(name, names()));
  return 0;
}

std::vector<ColumnTarget> ColumnBinder::results(ColumnKind from,
                                                const std::vector<std::size_t>& sources,
                                                ColumnKind to, std::int64_t bound) {
  check_output(sources.size());
  std::vector<ColumnTarget> targets;
  for (const std::size_t source : sources) {
    if (request_.refused()) break;
    SparseFeature result{name_of({from, source}), bound};
    if (from == ColumnKind::kSparse) result.bound = schema_.sparse[source].bound;
    if (has_output()) {
      result.name = output_name(result.name, result.name);
      targets.push_back({source, add(to, result), false});
    } else if (from == to) {
      targets.push_back({source, source, false});
    } else {
      targets.push_back({source, slots_.add(to, result), true});
    }
  }
  for (const ColumnTarget& target : targets) {
    if (target.drop_source) drop({from, target.from});
  }
  return targets;
}

Targets ColumnBinder::same_kind(const std::vector<std::size_t>& dense,
                                const std::vector<std::size_t>& sparse) {
  return {results(ColumnKind::kDense, dense, ColumnKind::kDense),
          results(ColumnKind::kSparse, sparse, ColumnKind::kSparse)};
}

std::size_t ColumnBinder::add(ColumnKind kind, const SparseFeature& column) {
  if (slots_.has(column.name)) {
    request_.refuse("output", quoted(column.name) + " is a column already");
  }
  if (std::ranges::count(schema_.extra, column.name, &ExtraColumn::name) > 0) {
    request_.refuse("output", quoted(column.name) + " is a column of columns.extra; name another");
  }
  return slots_.add(kind, column);
}

std::string ColumnBinder::output_name(const std::string& source, const std::string& otherwise) {
  const auto& params = request_.spec().params;
  const auto found = params.find("output");
  const auto* pattern = found == params.end() ? nullptr : std::get_if<std::string>(&found->second);
  std::string name = pattern == nullptr ? otherwise : *pattern;
  const std::size_t hole = name.find("{}");
  if (hole != std::string::npos) name.replace(hole, 2, source);
  return name;
}

void ColumnBinder::check_output(std::size_t num_sources) {
  if (!has_output()) return;
  const auto* pattern = std::get_if<std::string>(&request_.spec().params.at("output"));
  if (pattern == nullptr || pattern->empty()) {
    request_.refuse("output", "must be a string: the result's name");
  } else if (num_sources > 1 && pattern->find("{}") == std::string::npos) {
    request_.refuse("output", "needs {} for the column's name, as there are " +
                                  std::to_string(num_sources) + " columns");
  }
}

std::vector<std::string> ColumnBinder::names() const {
  const Schema live = slots_.live_schema();
  std::vector<std::string> all = live.dense;
  for (const SparseFeature& feature : live.sparse) all.push_back(feature.name);
  return all;
}

}  // namespace forebay
