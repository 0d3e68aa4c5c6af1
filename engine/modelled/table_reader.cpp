#include "engine/modelled/table_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/job/nearest.h"
#include "engine/job/toml_text.h"
#include "engine/modelled/pipeline_rules.h"

namespace forebay {
namespace {

constexpr std::size_t kMostNameBytes = 200;

std::string shown(const toml::node& node) {
  char text[40];
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* string = node.as_string()) return '"' + string->get().substr(0, 60) + '"';
  if (node.is_table()) return "a table";
  if (node.is_array()) return "a list";
  if (!node.is_floating_point()) return "a date";
  std::snprintf(text, sizeof text, "%g", node.as_floating_point()->get());
  return text;
}

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= kMostNameBytes &&
         std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// Returns the value if `key` may hold it.
std::optional<PipelineTable::Value> accepted(const PipelineKey& key, const toml::node& node) {
  if (key.kind == PipelineKey::Kind::kText) {
    const auto* text = node.as_string();
    if (text == nullptr || !is_name(text->get())) return std::nullopt;
    return text->get();
  }
  const auto number = node.value<double>();
  if (!node.is_number() || !number || !(*number >= key.low && *number <= key.high)) {
    return std::nullopt;
  }
  if (key.kind == PipelineKey::Kind::kNumber) return *number;
  if (!node.is_integer()) return std::nullopt;
  return node.as_integer()->get();
}

std::vector<std::string_view> names_of(std::span<const PipelineKey> keys) {
  std::vector<std::string_view> names;
  for (const PipelineKey& key : keys) names.push_back(key.name);
  return names;
}

/// Reads the tables of one file.
class Reading {
 public:
  explicit Reading(std::string_view file) : file_(file) {}

  Result<PipelineDocument> document(const toml::table& root) {
    PipelineDocument read;
    const auto* trainer = root["trainer"].as_table();
    const auto* stages = root["stage"].as_array();
    const auto* events = root["event"].as_array();
    Status status = table(read.top, root, "", pipeline_keys(), {"trainer", "stage", "event"});
    if (status) status = one_table(trainer, root);
    if (status) status = table(read.trainer, *trainer, "trainer.", trainer_keys());
    if (status) status = many(root, "stage", 1, kMostStages);
    if (status) status = many(root, "event", 0, kMostEvents);
    for (std::size_t i = 0; status && stages != nullptr && i < stages->size(); ++i) {
      status = table(read.stages.emplace_back(), *stages->get_as<toml::table>(i), "stage.",
                     stage_keys());
    }
    for (std::size_t i = 0; status && events != nullptr && i < events->size(); ++i) {
      status = event(read.events.emplace_back(), *events->get_as<toml::table>(i));
    }
    if (!status) return pass(status);
    return read;
  }

 private:
  Status one_table(const toml::table* found, const toml::table& root) const {
    if (found != nullptr) return {};
    if (!root.contains("trainer")) return refuse(file_, "has no [trainer]");
    return refuse(at_line(file_, *root.get("trainer")), "trainer must be a table: [trainer]");
  }

  /// Checks that `[[name]]` occurs from `fewest` to `most` times.
  Status many(const toml::table& root, const std::string& name, std::size_t fewest,
              std::size_t most) const {
    const auto* found = root.get(name);
    const auto* list = found == nullptr ? nullptr : found->as_array();
    if (found != nullptr && (list == nullptr || (!list->empty() && !list->is_array_of_tables()))) {
      return refuse(at_line(file_, *found), name + " must be tables: [[" + name + "]]");
    }
    const std::size_t count = list == nullptr ? 0 : list->size();
    if (count >= fewest && count <= most) return {};
    return refuse(file_, "has " + std::to_string(count) + " [[" + name + "]], but must have from " +
                             std::to_string(fewest) + " to " + std::to_string(most));
  }

  Status event(PipelineTable& into, const toml::table& from) const {
    const bool of_stage = from.contains("stage");
    const auto keys = of_stage ? stage_event_keys() : machine_event_keys();
    if (auto read = table(into, from, "event.", keys); !read) return read;
    if (into.values.size() > (of_stage ? 2U : 1U)) return {};
    return refuse(into.where, of_stage ? "event changes nothing of its stage; give it "
                                         "seconds_factor or max_rate"
                                       : "event changes nothing; give it cpus, memory_bytes or "
                                         "trainer_step_seconds, or a stage");
  }

  Status table(PipelineTable& into, const toml::table& from, const std::string& prefix,
               std::span<const PipelineKey> keys,
               const std::vector<std::string_view>& tables = {}) const {
    into.where = prefix.empty() ? std::string(file_) : at_line(file_, from);
    for (const auto& [name, node] : from) {
      if (std::find(tables.begin(), tables.end(), name.str()) != tables.end()) continue;
      if (auto read = value(into, node, prefix, std::string(name.str()), keys, tables); !read) {
        return read;
      }
    }
    for (const PipelineKey& key : keys) {
      if (!key.required || into.has(key.name)) continue;
      return refuse(into.where, prefix + std::string(key.name) + " is missing; it must be " +
                                    describe_wanted(key));
    }
    return {};
  }

  // NOLINTNEXTLINE(readability-function-size): one key, with all that its error has to name.
  Status value(PipelineTable& into, const toml::node& node, const std::string& prefix,
               const std::string& name, std::span<const PipelineKey> keys,
               const std::vector<std::string_view>& tables) const {
    const auto key = std::find_if(keys.begin(), keys.end(),
                                  [&](const PipelineKey& known) { return known.name == name; });
    if (key == keys.end()) {
      auto known = names_of(keys);
      known.insert(known.end(), tables.begin(), tables.end());
      return refuse(at_line(file_, node), "unknown key " + prefix + name.substr(0, 60) + " = " +
                                              shown(node) + did_you_mean(name, known));
    }
    auto held = accepted(*key, node);
    if (!held) {
      return refuse(at_line(file_, node), prefix + name + " is " + shown(node) + ", but must be " +
                                              describe_wanted(*key));
    }
    into.values.emplace_back(name, std::move(*held));
    return {};
  }

  static Status refuse(std::string_view where, const std::string& what) {
    return fail(Code::kInvalid, std::string(where) + ": " + what);
  }

  std::string_view file_;
};

template <class T>
void read_whole(const PipelineTable& table, std::string_view key, T& into) {
  if (const auto* value = table.find(key)) into = static_cast<T>(std::get<std::int64_t>(*value));
}

}  // namespace

const PipelineTable::Value* PipelineTable::find(std::string_view key) const {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const auto& entry) { return entry.first == key; });
  return found == values.end() ? nullptr : &found->second;
}

std::string PipelineTable::text(std::string_view key) const {
  const Value* value = find(key);
  return value == nullptr ? "" : std::get<std::string>(*value);
}

void PipelineTable::number(std::string_view key, double& into) const {
  if (const Value* value = find(key)) into = std::get<double>(*value);
}

void PipelineTable::number(std::string_view key, std::optional<double>& into) const {
  if (const Value* value = find(key)) into = std::get<double>(*value);
}

void PipelineTable::whole(std::string_view key, std::uint64_t& into) const {
  read_whole(*this, key, into);
}

void PipelineTable::whole(std::string_view key, std::uint32_t& into) const {
  read_whole(*this, key, into);
}

void PipelineTable::whole(std::string_view key, std::optional<std::uint64_t>& into) const {
  if (const Value* value = find(key)) {
    into = static_cast<std::uint64_t>(std::get<std::int64_t>(*value));
  }
}

Result<PipelineDocument> read_tables(std::string_view text, std::string_view name) {
  auto tables = read_toml(text, name);
  if (!tables) return pass(tables);
  return Reading(name).document(*tables);
}

}  // namespace forebay
