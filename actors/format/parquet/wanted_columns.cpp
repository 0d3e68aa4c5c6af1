#include "actors/format/parquet/wanted_columns.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "actors/format/column_choice.h"
#include "actors/format/parquet/convert.h"
#include "actors/format/raw_split.h"

namespace forebay::parquet {
namespace {

constexpr std::size_t kMostNames = std::size_t{1} << 20;  // columns, items of lists included
constexpr std::uint32_t kWhole = ~std::uint32_t{0};
constexpr const char* kNull = "null";
constexpr std::string_view kListOf = "list of ";

/// What a name of `[columns]` may stand for: a leaf, or an item of its lists of fixed size.
struct Named {
  std::size_t leaf = 0;
  std::uint32_t item = kWhole;
};

std::string list_of(const std::string& kind) { return std::string(kListOf) + kind; }

std::string dense_kind(const Leaf& leaf) {
  std::string kind = "number";
  if (leaf.meaning == Meaning::kNull && leaf.list_size == 0) kind = kNull;
  if (leaf.meaning == Meaning::kDate) kind = "date";
  if (leaf.meaning == Meaning::kTimestamp) kind = "timestamp";
  return leaf.list_size == 0 ? kind
                             : "list of " + std::to_string(leaf.list_size) + " " + kind + "s";
}

/// Ids are stored values, so the unit of a timestamp is part of the kind.
std::string sparse_kind(const Leaf& leaf) {
  std::string kind = "integer";
  if (leaf.meaning == Meaning::kNull) kind = kNull;
  if (leaf.meaning == Meaning::kText) kind = "text";
  if (leaf.meaning == Meaning::kDate) kind = "date";
  if (leaf.meaning == Meaning::kTimestamp)
    kind = "timestamp of " + std::to_string(leaf.per_second) + " units a second";
  return leaf.is_list() ? list_of(kind) : kind;
}

bool takes_numbers(Use use) { return use == Use::kDense || use == Use::kNumber; }

std::string kind_of(const Leaf& leaf, Use use) {
  return takes_numbers(use) ? dense_kind(leaf) : sparse_kind(leaf);
}

std::string why_not(const Leaf& leaf, Use use) {
  const bool one_value = use == Use::kNumber || use == Use::kInteger;
  if (one_value && leaf.is_list()) return leaf.type;
  return takes_numbers(use) ? why_not_dense(leaf) : why_not_sparse(leaf);
}

std::string other_kind(const std::string& column, const std::string& kind,
                       const std::string& wanted) {
  return column + " is of another kind (" + kind + ") than in the dataset's first file (" + wanted +
         "); convert one of the two";
}

/// Whether the values of a leaf, all null, are of the kind wanted: a null list is an empty one.
bool is_null_of(const Leaf& leaf, const WantedLeaf& wanted) {
  if (leaf.meaning != Meaning::kNull) return false;
  if (!leaf.is_list()) return wanted.list_size == 0;
  return wanted.use == Use::kSparse && wanted.kind.starts_with(kListOf);
}

/// Turns the chosen names into leaves to read and columns made of them.
class Wanting {
 public:
  Wanting(const std::vector<Leaf>& leaves, const std::vector<Named>& named)
      : leaves_(leaves), named_(named) {}

  Result<WantedColumns> columns(const ColumnChoice& choice) {
    wanted_.label_threshold = choice.label_threshold;
    auto label = single("columns.label", named_[choice.label], Use::kNumber);
    if (!label) return pass(label);
    for (const std::size_t name : choice.dense) {
      if (auto status = dense(named_[name], choice.dense); !status) return pass(status);
    }
    for (const std::size_t name : choice.sparse) {
      if (auto status = sparse(named_[name], choice.sparse); !status) return pass(status);
    }
    if (choice.weight) {
      auto weight = single("columns.weight", named_[*choice.weight], Use::kNumber);
      if (!weight) return pass(weight);
      wanted_.weight = *weight;
      wanted_.schema.weight = true;
    }
    for (const std::size_t name : choice.extra) {
      if (auto status = extra(named_[name]); !status) return pass(status);
    }
    return std::move(wanted_);
  }

 private:
  /// Whether a whole list was chosen along with items of it, or an item along with its list.
  bool chosen(const std::vector<std::size_t>& names, std::size_t leaf, bool whole) const {
    return std::ranges::any_of(names, [&](std::size_t name) {
      return named_[name].leaf == leaf && (named_[name].item == kWhole) == whole;
    });
  }

  /// A column with one value a row, which no model sees as a feature.
  Result<std::size_t> single(const std::string& key, const Named& name, Use use) {
    if (name.item == kWhole) return leaf_of(key, name.leaf, use);
    return fail(Code::kInvalid,
                key + ": " +
                    quoted_text(leaves_[name.leaf].name + "." + std::to_string(name.item)) +
                    " is an item of a list; name a column with one value a row");
  }

  Status extra(const Named& name) {
    const Leaf& leaf = leaves_[name.leaf];
    const bool real = leaf.meaning == Meaning::kFloat || leaf.meaning == Meaning::kDecimal ||
                      leaf.physical == Physical::kInt96;
    auto added = single("columns.extra", name, real ? Use::kNumber : Use::kInteger);
    if (!added) return pass(added);
    wanted_.extra.push_back(*added);
    wanted_.schema.extra.push_back(
        {.name = leaf.name,
         .kind = real ? ExtraColumn::Kind::kFloat64 : ExtraColumn::Kind::kInt64});
    return {};
  }

  Status dense(const Named& name, const std::vector<std::size_t>& names) {
    auto leaf = leaf_of("columns.dense", name.leaf, Use::kDense);
    if (!leaf) return pass(leaf);
    const std::uint32_t items = wanted_.leaves[*leaf].list_size;
    if (name.item != kWhole || items == 0) {
      add_dense(*leaf, name.item);
    } else if (!chosen(names, name.leaf, false)) {
      for (std::uint32_t item = 0; item < items; ++item) add_dense(*leaf, item);
    }
    return {};
  }

  void add_dense(std::size_t leaf, std::uint32_t item) {
    const bool whole = item == kWhole;
    wanted_.dense.push_back({leaf, whole ? 0 : item});
    const std::string& name = wanted_.leaves[leaf].name;
    wanted_.schema.dense.push_back(whole ? name : name + "." + std::to_string(item));
  }

  Status sparse(const Named& name, const std::vector<std::size_t>& names) {
    if (name.item != kWhole) {
      // A glob such as "h*" matches a list and its items; the list is meant.
      if (chosen(names, name.leaf, true)) return {};
      return fail(Code::kInvalid,
                  "columns.sparse: " +
                      quoted_text(leaves_[name.leaf].name + "." + std::to_string(name.item)) +
                      " is an item of a list; name the whole list");
    }
    auto leaf = leaf_of("columns.sparse", name.leaf, Use::kSparse);
    if (!leaf) return pass(leaf);
    wanted_.sparse.push_back(*leaf);
    wanted_.schema.sparse.push_back({.name = leaves_[name.leaf].name});
    return {};
  }

  /// Adds a leaf of the file to those that are read, once.
  Result<std::size_t> leaf_of(const std::string& key, std::size_t number, Use use) {
    const Leaf& leaf = leaves_[number];
    if (const std::string why = why_not(leaf, use); !why.empty()) {
      return fail(Code::kInvalid, key + ": column " + quoted_text(leaf.name) + " is " + why +
                                      ", which cannot be a " + key.substr(key.find('.') + 1) +
                                      " column");
    }
    const auto found = added_.find(number);
    if (found == added_.end()) {
      added_.emplace(number, wanted_.leaves.size());
      wanted_.leaves.push_back({.name = leaf.name,
                                .use = use,
                                .kind = kind_of(leaf, use),
                                .list_size = use == Use::kDense ? leaf.list_size : 0});
      return wanted_.leaves.size() - 1;
    }
    if (wanted_.leaves[found->second].use == use) return found->second;
    return fail(Code::kInvalid, key + ": items of column " + quoted_text(leaf.name) +
                                    " are dense already; name the column once");
  }

  const std::vector<Leaf>& leaves_;
  const std::vector<Named>& named_;
  WantedColumns wanted_;
  std::map<std::size_t, std::size_t> added_;  // leaf of the file → leaf of wanted_
};

}  // namespace

Result<WantedColumns> want_columns(const ColumnSpec& spec, const std::vector<Leaf>& leaves) {
  std::vector<std::string> names;
  std::vector<Named> named;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    names.push_back(leaves[i].name);
    named.push_back({.leaf = i});
    for (std::uint32_t item = 0; item < leaves[i].list_size && names.size() < kMostNames; ++item) {
      names.push_back(leaves[i].name + "." + std::to_string(item));
      named.push_back({.leaf = i, .item = item});
    }
  }
  ColumnSpec ungrouped = spec;  // chosen names are not features: a list is many, or an item of one
  ungrouped.dedup.clear();
  auto choice = choose_columns(ungrouped, names);
  if (!choice) return pass(choice);
  auto wanted = Wanting(leaves, named).columns(*choice);
  if (!wanted) return pass(wanted);
  if (auto status = group_features(spec, wanted->schema); !status) return pass(status);
  return wanted;
}

bool lacks_kinds(const WantedColumns& wanted) {
  return std::ranges::any_of(wanted.leaves, [](const WantedLeaf& leaf) {
    return leaf.kind == kNull || leaf.kind == list_of(kNull);
  });
}

bool take_kinds(std::vector<Leaf>& leaves, const std::vector<Leaf>& others) {
  bool taken = false;
  for (Leaf& leaf : leaves) {
    if (leaf.meaning != Meaning::kNull) continue;
    const auto other = std::ranges::find(others, leaf.name, &Leaf::name);
    if (other == others.end() || other->meaning == Meaning::kNull) continue;
    leaf = *other;
    taken = true;
  }
  return taken;
}

Result<std::vector<std::size_t>> locate_columns(const WantedColumns& wanted,
                                                const std::vector<Leaf>& leaves) {
  std::map<std::string, std::vector<std::size_t>> by_name;
  for (std::size_t i = 0; i < leaves.size(); ++i) by_name[leaves[i].name].push_back(i);
  std::vector<std::size_t> places;
  for (const WantedLeaf& leaf : wanted.leaves) {
    const std::vector<std::size_t>& found = by_name[leaf.name];
    const std::string column = "column " + quoted_text(leaf.name);
    if (found.empty()) {
      return fail(
          Code::kInvalid,
          column + " is missing, which the dataset's first file has; remove one of the two");
    }
    if (found.size() > 1)
      return fail(Code::kInvalid, column + " is there twice; rename one of the two");
    const Leaf& there = leaves[found.front()];
    std::string kind = why_not(there, leaf.use);
    if (kind.empty()) kind = kind_of(there, leaf.use);
    if (kind != leaf.kind && !is_null_of(there, leaf))
      return fail(Code::kInvalid, other_kind(column, kind, leaf.kind));
    places.push_back(found.front());
  }
  return places;
}

}  // namespace forebay::parquet
