#include "actors/transform/column_binder.h"

#include <algorithm>

#include <fnmatch.h>

namespace forebay {
namespace {

bool is_pattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

bool matches(const std::string& pattern, const std::string& name) {
  return is_pattern(pattern) ? fnmatch(pattern.c_str(), name.c_str(), 0) == 0 : pattern == name;
}

const char* word(ColumnKind kind) { return kind == ColumnKind::kDense ? "dense" : "sparse"; }

std::string quoted(const std::string& name) { return '"' + name + '"'; }

}  // namespace

void ColumnBinder::match(const std::string& pattern, const std::vector<ColumnKind>& kinds,
                         std::vector<ColumnRef>& found) {
  bool any = false;
  bool right = false;
  const auto visit = [&](ColumnRef column) {
    if (!matches(pattern, name_of(column))) return;
    any = true;
    if (std::find(kinds.begin(), kinds.end(), column.kind) == kinds.end()) return;
    right = true;
    const auto same = [&](ColumnRef other) {
      return other.kind == column.kind && other.index == column.index;
    };
    if (std::none_of(found.begin(), found.end(), same)) found.push_back(column);
  };
  for (std::size_t i = 0; i < schema_.dense.size(); ++i) visit({ColumnKind::kDense, i});
  for (std::size_t i = 0; i < schema_.sparse.size(); ++i) visit({ColumnKind::kSparse, i});
  if (!any) {
    request_.refuse("columns", is_pattern(pattern) ? quoted(pattern) + " matches no column"
                                                   : "no column " + quoted(pattern) +
                                                         did_you_mean(pattern, names()));
  } else if (!right) {
    const ColumnKind needed = kinds.front();
    const ColumnKind given =
        needed == ColumnKind::kDense ? ColumnKind::kSparse : ColumnKind::kDense;
    request_.refuse("columns", quoted(pattern) + " is " + word(given) + ", the operator takes " +
                                   word(needed) + " columns");
  }
}

std::vector<ColumnRef> ColumnBinder::any() {
  std::vector<ColumnRef> found;
  if (request_.spec().columns.empty()) request_.refuse("columns", "name at least one column");
  for (const std::string& pattern : request_.spec().columns) {
    match(pattern, {ColumnKind::kDense, ColumnKind::kSparse}, found);
  }
  return found;
}

std::vector<std::size_t> ColumnBinder::of_kind(ColumnKind kind) {
  std::vector<ColumnRef> found;
  if (request_.spec().columns.empty()) request_.refuse("columns", "name at least one column");
  for (const std::string& pattern : request_.spec().columns) match(pattern, {kind}, found);
  std::vector<std::size_t> indices;
  indices.reserve(found.size());
  for (const ColumnRef column : found) indices.push_back(column.index);
  return indices;
}

std::vector<std::size_t> ColumnBinder::dense() { return of_kind(ColumnKind::kDense); }

std::vector<std::size_t> ColumnBinder::sparse() { return of_kind(ColumnKind::kSparse); }

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
  for (std::size_t i = 0; i < schema_.sparse.size(); ++i) {
    if (schema_.sparse[i].name == name) return i;
  }
  request_.refuse(key, quoted(name) + " is no sparse column" + did_you_mean(name, names()));
  return 0;
}

std::vector<ColumnTarget> ColumnBinder::dense_to_dense(const std::vector<std::size_t>& sources) {
  check_pattern(sources.size());
  std::vector<ColumnTarget> targets;
  for (const std::size_t from : sources) {
    if (request_.refused()) break;
    const std::string name = schema_.dense[from];
    targets.push_back({from, has_output() ? add_dense(output_name(name, name)) : from, false});
  }
  return targets;
}

std::vector<ColumnTarget> ColumnBinder::sparse_to_sparse(const std::vector<std::size_t>& sources) {
  check_pattern(sources.size());
  std::vector<ColumnTarget> targets;
  for (const std::size_t from : sources) {
    if (request_.refused()) break;
    SparseFeature feature = schema_.sparse[from];
    if (!has_output()) {
      targets.push_back({from, from, false});
      continue;
    }
    feature.name = output_name(feature.name, feature.name);
    targets.push_back({from, add_sparse(feature), false});
  }
  return targets;
}

std::vector<ColumnTarget> ColumnBinder::dense_to_sparse(const std::vector<std::size_t>& sources,
                                                        std::int64_t bound) {
  check_pattern(sources.size());
  std::vector<ColumnTarget> targets;
  for (const std::size_t from : sources) {
    if (request_.refused()) break;
    const std::string name = schema_.dense[from];
    if (has_output()) {
      targets.push_back({from, add_sparse({output_name(name, name), bound}), false});
    } else {
      schema_.sparse.push_back({name, bound});
      targets.push_back({from, schema_.sparse.size() - 1, true});
    }
  }
  drop_sources(ColumnKind::kDense, targets);
  return targets;
}

std::vector<ColumnTarget> ColumnBinder::sparse_to_dense(const std::vector<std::size_t>& sources) {
  check_pattern(sources.size());
  std::vector<ColumnTarget> targets;
  for (const std::size_t from : sources) {
    if (request_.refused()) break;
    const std::string name = schema_.sparse[from].name;
    if (has_output()) {
      targets.push_back({from, add_dense(output_name(name, name)), false});
    } else {
      schema_.dense.push_back(name);
      targets.push_back({from, schema_.dense.size() - 1, true});
    }
  }
  drop_sources(ColumnKind::kSparse, targets);
  return targets;
}

std::size_t ColumnBinder::add_dense(const std::string& name) {
  check_free(name);
  schema_.dense.push_back(name);
  return schema_.dense.size() - 1;
}

std::size_t ColumnBinder::add_sparse(const SparseFeature& feature) {
  check_free(feature.name);
  schema_.sparse.push_back(feature);
  return schema_.sparse.size() - 1;
}

void ColumnBinder::drop_sources(ColumnKind kind, const std::vector<ColumnTarget>& targets) {
  std::vector<std::size_t> dropped;
  for (const ColumnTarget& target : targets) {
    if (target.drop_source) dropped.push_back(target.from);
  }
  std::sort(dropped.rbegin(), dropped.rend());
  for (const std::size_t index : dropped) {
    const auto at = static_cast<std::ptrdiff_t>(index);
    if (kind == ColumnKind::kDense) {
      schema_.dense.erase(schema_.dense.begin() + at);
    } else {
      schema_.sparse.erase(schema_.sparse.begin() + at);
    }
  }
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

void ColumnBinder::check_pattern(std::size_t num_sources) {
  if (!has_output()) return;
  const auto* pattern = std::get_if<std::string>(&request_.spec().params.at("output"));
  if (pattern == nullptr || pattern->empty()) {
    request_.refuse("output", "must be a string: the result's name");
  } else if (num_sources > 1 && pattern->find("{}") == std::string::npos) {
    request_.refuse("output", "needs {} for the column's name, as there are " +
                                  std::to_string(num_sources) + " columns");
  }
}

void ColumnBinder::check_free(const std::string& name) {
  const std::vector<std::string> taken = names();
  if (std::find(taken.begin(), taken.end(), name) != taken.end()) {
    request_.refuse("output", quoted(name) + " is a column already");
  }
}

const std::string& ColumnBinder::name_of(ColumnRef column) const {
  return column.kind == ColumnKind::kDense ? schema_.dense[column.index]
                                           : schema_.sparse[column.index].name;
}

std::vector<std::string> ColumnBinder::names() const {
  std::vector<std::string> all = schema_.dense;
  for (const SparseFeature& feature : schema_.sparse) all.push_back(feature.name);
  return all;
}

}  // namespace forebay
