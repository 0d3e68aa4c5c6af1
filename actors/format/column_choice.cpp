#include "actors/format/column_choice.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fnmatch.h>

#include "actors/format/raw_split.h"
#include "core/base/text/nearest.h"

namespace forebay {
namespace {

/// Turns patterns into columns and remembers which key has taken which column.
class Chooser {
 public:
  /// `kind` names the columns that may be chosen, for messages.
  explicit Chooser(const std::vector<std::string>& names, std::string kind = "column")
      : names_(names), kind_(std::move(kind)), taken_by_(names.size()) {
    for (std::size_t i = 0; i < names.size(); ++i) by_name_[names[i]].push_back(i);
  }

  Status take(const std::string& key, const std::string& pattern, std::vector<std::size_t>& out) {
    const auto found = matches(pattern);
    if (found.empty()) return no_match(key, pattern);
    for (const std::size_t column : found) {
      const std::string& name = names_[column];
      if (by_name_.at(name).size() > 1) {
        return fail(Code::kInvalid, key + ": " + quoted_text(name) +
                                        " is the name of two columns in the header; rename one");
      }
      if (!taken_by_[column].empty()) {
        return fail(Code::kInvalid, key + ": column " + quoted_text(name) + " is already used by " +
                                        taken_by_[column] + "; name it once");
      }
      taken_by_[column] = key;
      out.push_back(column);
    }
    return {};
  }

  /// Takes the only column that the pattern matches.
  Status take_one(const std::string& key, const std::string& pattern, std::size_t& out) {
    std::vector<std::size_t> found;
    if (auto status = take(key, pattern, found); !status) return status;
    if (found.size() > 1) {
      return fail(Code::kInvalid, key + ": " + quoted_text(pattern) + " matches " +
                                      std::to_string(found.size()) + " columns; name one");
    }
    out = found[0];
    return {};
  }

 private:
  std::vector<std::size_t> matches(const std::string& pattern) const {
    if (const auto whole = by_name_.find(pattern); whole != by_name_.end()) return whole->second;
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (::fnmatch(pattern.c_str(), names_[i].c_str(), 0) == 0) found.push_back(i);
    }
    return found;
  }

  Status no_match(const std::string& key, const std::string& pattern) const {
    std::string message = key + ": no " + kind_ + " matches " + quoted_text(pattern);
    const std::vector<std::string_view> names(names_.begin(), names_.end());
    if (const auto near = nearest_of(pattern, names); !near.empty()) {
      message += "; did you mean " + quoted_text(near) + "?";
    }
    return fail(Code::kInvalid, message);
  }

  const std::vector<std::string>& names_;
  const std::string kind_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> by_name_;
  std::vector<std::string> taken_by_;  // By column; empty: free.
};

/// Chooses what is neither label nor feature.
Status take_rest(const ColumnSpec& spec, Chooser& chooser, ColumnChoice& choice) {
  choice.label_threshold = spec.label_threshold;
  if (!spec.weight.empty()) {
    choice.weight.emplace();
    if (auto status = chooser.take_one("columns.weight", spec.weight, *choice.weight); !status) {
      return status;
    }
  }
  for (const std::string& pattern : spec.extra) {
    if (auto status = chooser.take("columns.extra", pattern, choice.extra); !status) return status;
  }
  return {};
}

/// Describes what a column of the job that is no feature is used for; "" for another name.
std::string use_of(const std::string& name, const ColumnSpec& spec, const Schema& schema) {
  if (name == spec.label) return "the label";
  if (schema.weight && name == spec.weight) return "the weight";
  const bool is_extra = std::ranges::any_of(
      schema.extra, [&](const ExtraColumn& column) { return column.name == name; });
  return is_extra ? "an extra column" : "";
}

/// Refuses a group of repeated columns that names a column of the job that is no feature.
Status check_is_feature(const std::string& name, const ColumnSpec& spec, const Schema& schema) {
  const std::string use = use_of(name, spec, schema);
  if (use.empty()) return {};
  return fail(Code::kInvalid, "columns.dedup: " + quoted_text(name) + " is " + use +
                                  ", and a group has dense and sparse columns only; leave it out");
}

}  // namespace

Result<ColumnChoice> choose_columns(const ColumnSpec& spec, const std::vector<std::string>& names) {
  if (spec.label.empty()) {
    return fail(Code::kInvalid,
                "columns.label: no label column is given; name the column that holds 0 or 1");
  }
  if (spec.dense.empty() && spec.sparse.empty() && !spec.without_features) {
    return fail(Code::kInvalid, "columns: no features are given; name some under dense or sparse");
  }
  Chooser chooser(names);
  ColumnChoice choice;
  if (auto status = chooser.take_one("columns.label", spec.label, choice.label); !status) {
    return pass(status);
  }
  for (const std::string& pattern : spec.dense) {
    if (auto status = chooser.take("columns.dense", pattern, choice.dense); !status) {
      return pass(status);
    }
  }
  for (const std::string& pattern : spec.sparse) {
    if (auto status = chooser.take("columns.sparse", pattern, choice.sparse); !status) {
      return pass(status);
    }
  }
  if (auto status = take_rest(spec, chooser, choice); !status) return pass(status);
  for (const std::size_t column : choice.dense) choice.schema.dense.push_back(names[column]);
  for (const std::size_t column : choice.sparse) {
    choice.schema.sparse.push_back({.name = names[column]});
  }
  choice.schema.weight = choice.weight.has_value();
  for (const std::size_t column : choice.extra) {
    choice.schema.extra.push_back({.name = names[column]});
  }
  if (auto status = group_features(spec, choice.schema); !status) return pass(status);
  return choice;
}

Status group_features(const ColumnSpec& spec, Schema& schema) {
  std::vector<std::string> names = schema.dense;
  for (const SparseFeature& feature : schema.sparse) names.push_back(feature.name);
  Chooser chooser(names, "dense or sparse column");
  schema.repeated.clear();
  for (const std::vector<std::string>& patterns : spec.dedup) {
    std::vector<std::size_t> chosen;
    for (const std::string& pattern : patterns) {
      if (auto status = check_is_feature(pattern, spec, schema); !status) return status;
      if (auto status = chooser.take("columns.dedup", pattern, chosen); !status) return status;
    }
    std::ranges::sort(chosen);
    FeatureGroup& group = schema.repeated.emplace_back();
    for (const std::size_t column : chosen) {
      const bool is_dense = column < schema.dense.size();
      (is_dense ? group.dense : group.sparse)
          .push_back(is_dense ? column : column - schema.dense.size());
    }
  }
  return {};
}

}  // namespace forebay
