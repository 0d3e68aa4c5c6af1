#include "engine/job/job_document.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/text/text.h"
#include "engine/job/quantity.h"
#include "engine/job/toml_text.h"

namespace forebay {
namespace {

bool is_bare(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

std::string dotted(std::string_view prefix, std::string_view key) {
  std::string name = prefix.empty() ? "" : std::string(prefix) + ".";
  return name + (is_bare(key) ? std::string(key) : '"' + std::string(key) + '"');
}

template <class T>
std::optional<std::vector<T>> list_of(const toml::array& list) {
  std::vector<T> values;
  for (const toml::node& node : list) {
    const auto value = node.value<T>();
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

/// Reads a list of lists of strings.
std::optional<ParamValue> list_of_lists(const toml::array& lists) {
  std::vector<std::vector<std::string>> values;
  for (const toml::node& node : lists) {
    auto strings = list_of<std::string>(*node.as_array());
    if (!strings) return std::nullopt;
    values.push_back(std::move(*strings));
  }
  return values;
}

std::optional<ParamValue> read_list(const toml::array& list) {
  const auto all = [&](auto&& is) { return std::all_of(list.begin(), list.end(), is); };
  if (all([](const toml::node& node) { return node.is_string(); })) {
    return list_of<std::string>(list);
  }
  if (all([](const toml::node& node) { return node.is_integer(); })) {
    return list_of<std::int64_t>(list);
  }
  if (all([](const toml::node& node) { return node.is_number(); })) return list_of<double>(list);
  if (all([](const toml::node& node) { return node.is_array(); })) return list_of_lists(list);
  return std::nullopt;
}

// Reads a value that some key may take; nullopt for other values.
std::optional<ParamValue> read_value(const toml::node& node) {
  if (const auto* list = node.as_array()) return read_list(*list);
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* number = node.as_integer()) return number->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* text = node.as_string()) return text->get();
  return std::nullopt;
}

/// Returns null for anything but a list of tables alone.
const toml::array* list_of_tables(const toml::node& node) {
  const toml::array* list = node.as_array();
  return list != nullptr && (list->empty() || list->is_array_of_tables()) ? list : nullptr;
}

/// Walks a parsed table and fills a document.
class Flattener {
 public:
  Flattener(JobDocument& document, std::string_view file) : document_(document), file_(file) {}

  Status add_table(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string name = dotted(prefix, key.str());
      const auto* transforms = name == kTransformList ? list_of_tables(node) : nullptr;
      if (const auto* inner = node.as_table()) {
        document_.tables[name] = at_line(file_, node);
        if (auto added = add_table(*inner, name); !added) return added;
      } else if (transforms != nullptr) {
        if (auto added = add_transforms(*transforms); !added) return added;
      } else if (auto added = add_value(document_.values, name, name, node); !added) {
        return added;
      }
    }
    return {};
  }

  Status add_transforms(const toml::array& list) {
    for (const toml::node& node : list) {
      auto& transform = document_.transforms.emplace_back();
      transform.where = at_line(file_, node);
      for (const auto& [key, value] : *node.as_table()) {
        const std::string name(key.str());
        if (auto added = add_value(transform.values, name, "transform." + name, value); !added) {
          return added;
        }
      }
    }
    return {};
  }

 private:
  Status add_value(JobDocument::Values& into, const std::string& key, const std::string& shown,
                   const toml::node& node) {
    const std::string where = at_line(file_, node);
    auto value = read_value(node);
    if (!value) {
      return fail(
          Code::kInvalid,
          where + ": " + shown +
              " must be true or false, a number, a string, or a list of numbers, of strings or of "
              "lists of strings");
    }
    into[key] = JobValue{std::move(*value), where};
    return {};
  }

  JobDocument& document_;
  std::string_view file_;
};

/// The right side of `--set key=value` as TOML, in the key `v`; empty if it is anything else.
toml::table parse_assigned(std::string_view text) {
  toml::parse_result parsed = toml::parse("v = " + std::string(text));
  return parsed && parsed.table().size() == 1 ? std::move(parsed).table() : toml::table();
}

// Parses the right side of `--set key=value`: as TOML, else as a bare string.
ParamValue read_assigned(std::string_view text) {
  const toml::table parsed = parse_assigned(text);
  if (const toml::node* node = parsed.get("v")) {
    if (auto value = read_value(*node)) return std::move(*value);
  }
  return std::string(text);
}

/// Applies `--set transform=[{…}, …]`; false: the value is no list of tables.
Result<bool> replace_transforms(JobDocument& document, std::string_view text,
                                const std::string& where) {
  const toml::table parsed = parse_assigned(text);
  const toml::node* node = parsed.get("v");
  const toml::array* list = node != nullptr ? list_of_tables(*node) : nullptr;
  if (list == nullptr) return false;
  document.transforms.clear();
  if (auto added = Flattener(document, where).add_transforms(*list); !added) return pass(added);
  return true;
}

}  // namespace

Result<JobDocument> parse_toml(std::string_view text, std::string_view name) {
  auto tables = read_toml(text, name);
  if (!tables) return pass(tables);
  JobDocument document;
  if (auto added = Flattener(document, name).add_table(*tables, ""); !added) {
    return pass(added);
  }
  return document;
}

Assignment split_assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {};
  return {trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1))};
}

Status apply_set(JobDocument& document, std::string_view assignment) {
  const std::string where = "--set " + std::string(assignment);
  const auto [name, text] = split_assignment(assignment);
  if (name.empty()) {
    return fail(Code::kInvalid, where + ": must be KEY=VALUE, as in --set order.seed=7");
  }
  std::string key(name);
  if (key == kTransformList) {
    auto replaced = replace_transforms(document, text, where);
    if (!replaced) return pass(replaced);
    if (*replaced) return {};
  }
  JobValue value{read_assigned(text), where};
  if (!key.starts_with("transform.")) {
    document.values[key] = std::move(value);
    return {};
  }
  const std::string_view rest = std::string_view(key).substr(kTransformList.size() + 1);
  const std::size_t dot = std::min(rest.find('.'), rest.size());
  const auto number = parse_count(rest.substr(0, dot));
  if (!number || *number >= document.transforms.size() || dot + 1 >= rest.size()) {
    return fail(Code::kInvalid, where +
                                    ": must be transform.N.KEY=VALUE with N from 0; the job has " +
                                    std::to_string(document.transforms.size()) + " transforms");
  }
  document.transforms[*number].values[std::string(rest.substr(dot + 1))] = std::move(value);
  return {};
}

}  // namespace forebay
