#include "actors/format/npy/wanted.h"

#include <algorithm>
#include <utility>

namespace forebay::npy {
namespace {

using Kind = ExtraColumn::Kind;

constexpr std::size_t kLabel = 0;  // its number in Trio::names()

// All columns, where the job names none.
ColumnSpec with_defaults(ColumnSpec spec, const Trio& first) {
  if (spec.label.empty()) spec.label = "label";
  if (spec.dense.empty() && spec.sparse.empty()) {
    const auto is_free = [&spec](const std::string& name) {
      return name != spec.weight && std::ranges::find(spec.extra, name) == spec.extra.end();
    };
    for (const std::string& name : first.names()) {
      if (name.front() == 'I' && is_free(name)) spec.dense.push_back(name);
      if (name.front() == 'C' && is_free(name)) spec.sparse.push_back(name);
    }
  }
  return spec;
}

bool is_dense(const Trio& trio, std::size_t column) {
  return column != kLabel && column <= trio.dense;
}

Status wrong(const char* key, const std::string& name, const std::string& why) {
  return fail(Code::kInvalid, std::string(key) + ": column \"" + name + "\" " + why);
}

Status check_kinds(const ColumnChoice& choice, const Trio& first,
                   const std::vector<std::string>& names) {
  if (choice.label != kLabel) {
    return wrong("columns.label", names[choice.label],
                 "of an npy dataset is not the label; that is \"label\"");
  }
  for (const std::size_t column : choice.dense) {
    if (!is_dense(first, column)) {
      return wrong("columns.dense", names[column],
                   "of an npy dataset is not dense; the dense ones are I1 to I" +
                       std::to_string(first.dense));
    }
  }
  for (const std::size_t column : choice.sparse) {
    if (column == kLabel || is_dense(first, column)) {
      return wrong("columns.sparse", names[column],
                   "of an npy dataset is not sparse; the sparse ones are C1 to C" +
                       std::to_string(first.sparse));
    }
  }
  return {};
}

Kind kind_of(const Trio& trio, const TrioColumn& column) {
  return trio.type(column).is_float() ? Kind::kFloat64 : Kind::kInt64;
}

// A weight or extra column has one value a row, and an extra column one kind in all files.
Status check_rest(const Wanted& wanted, const Trio& trio, const std::vector<TrioColumn>& found) {
  for (std::size_t i = wanted.weight(); i < found.size(); ++i) {
    const bool is_weight = i < wanted.first_extra();
    const std::string column = std::string(is_weight ? "columns.weight" : "columns.extra") +
                               ": column \"" + wanted.names[i] + "\" of " + trio.path;
    if (found[i].items != 1) {
      return fail(Code::kInvalid,
                  column + " has " + std::to_string(found[i].items) + " values a row, not one");
    }
    if (is_weight) continue;
    if (kind_of(trio, found[i]) != wanted.choice.schema.extra[i - wanted.first_extra()].kind) {
      return fail(Code::kInvalid, column + " holds " + trio.type(found[i]).name() +
                                      ", which is of another kind than in the first file");
    }
  }
  return {};
}

std::string columns_text(std::uint32_t dense, std::uint32_t sparse) {
  return std::to_string(dense) + " dense and " + std::to_string(sparse) + " sparse columns";
}

}  // namespace

Result<Wanted> choose_wanted(const ColumnSpec& spec, const Trio& first) {
  const std::vector<std::string> names = first.names();
  auto choice = choose_columns(with_defaults(spec, first), names);
  if (!choice) return pass(choice);
  if (auto status = check_kinds(*choice, first, names); !status) return pass(status);
  Wanted wanted{.choice = std::move(*choice),
                .columns = {kLabel},
                .names = {},
                .dense = first.dense,
                .sparse = first.sparse};
  const ColumnChoice& chosen = wanted.choice;
  auto& columns = wanted.columns;
  columns.insert(columns.end(), chosen.dense.begin(), chosen.dense.end());
  columns.insert(columns.end(), chosen.sparse.begin(), chosen.sparse.end());
  if (chosen.weight) columns.push_back(*chosen.weight);
  columns.insert(columns.end(), chosen.extra.begin(), chosen.extra.end());
  for (const std::size_t column : columns) wanted.names.push_back(names[column]);
  for (std::size_t i = 0; i < chosen.extra.size(); ++i) {
    wanted.choice.schema.extra[i].kind = kind_of(first, *first.column(chosen.extra[i]));
  }
  if (auto columns_found = find_wanted(wanted, first); !columns_found) return pass(columns_found);
  return wanted;
}

Result<std::vector<TrioColumn>> find_wanted(const Wanted& wanted, const Trio& trio) {
  if (trio.dense != wanted.dense || trio.sparse != wanted.sparse) {
    return fail(Code::kInvalid, trio.path + ": its trio has " +
                                    columns_text(trio.dense, trio.sparse) + ", and the first one " +
                                    columns_text(wanted.dense, wanted.sparse) +
                                    "; all trios need the same columns");
  }
  std::vector<TrioColumn> found;
  for (const std::size_t column : wanted.columns) found.push_back(*trio.column(column));
  if (auto status = check_rest(wanted, trio, found); !status) return pass(status);
  return found;
}

}  // namespace forebay::npy
