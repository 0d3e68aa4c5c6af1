#include "engine/modelled/pipeline_reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text/nearest.h"
#include "engine/job/quantity.h"
#include "engine/job/toml_text.h"
#include "engine/modelled/pipeline_keys.h"
#include "engine/modelled/toml_fields.h"

namespace forebay {
namespace {

using tuner::NodeModel;
using tuner::PipelineModel;
using tuner::ResourceModel;
using tuner::StageModel;

constexpr std::size_t kMostStages = 64;
constexpr std::size_t kMostNodes = 256;
constexpr std::size_t kMostResources = 256;
constexpr std::size_t kMostEvents = 1000;

Status refuse_table(std::string_view where, const std::string& what) {
  return fail(Code::kInvalid, std::string(where) + ": " + what);
}

auto named(const auto& list, const std::string& name) {
  return std::find_if(list.begin(), list.end(),
                      [&](const auto& each) { return each.name == name; });
}

/// What is wrong with a name that nothing in `list` has: `KEY is "NAME", which no KIND is called`.
std::string unknown(const std::string& key, const std::string& name, const auto& list,
                    const std::string& kind) {
  std::vector<std::string_view> names;
  names.reserve(list.size());
  for (const auto& each : list) names.push_back(each.name);
  return key + " is \"" + name + "\", which no " + kind + " is called" + did_you_mean(name, names);
}

/// Refuses a name that `--allocation` cannot hold: STAGE=COUNT,… or NODE.STAGE=COUNT,….
Status check_allocated_name(const TomlFields& table, const std::string& key,
                            const std::string& name, bool takes_point) {
  const std::size_t at = name.find_first_of(takes_point ? "=," : "=,.");
  if (at == std::string::npos) return {};
  const std::string why = name[at] == '.' ? "NODE.STAGE is the stage on one of the nodes"
                                          : "--allocation could not name it";
  return refuse_table(table.where(), key + " is \"" + name + "\", but must be without \"" +
                                         name[at] + "\": " + why);
}

/// Refuses a limit whose reciprocal, the time between two splits, is beyond any use.
Status check_max_rate(const TomlFields& table, const std::string& key, double max_rate) {
  if (max_rate == 0 || max_rate >= kLeastMaxRate) return {};
  return refuse_table(table.where(), key +
                                         printed(" is %g, but must be 0 (no limit) or ", max_rate) +
                                         printed("at least %g", kLeastMaxRate));
}

/// Reads the tables of one file.
class Reading {
 public:
  explicit Reading(std::string_view file) : file_(file) {}

  Result<PipelineModel> model(const toml::table& root) {
    TomlFields top(file_, root, "", {"trainer", "stage", "event", "node", "resource"});
    machine_fields(top, model_);
    Status status = top.finish();
    if (status) status = read_trainer(root);
    if (status) status = each(root, "node", 0, kMostNodes, &Reading::read_node);
    if (status) status = check_nodes();
    if (status) status = each(root, "resource", 0, kMostResources, &Reading::read_resource);
    if (status) status = each(root, "stage", 1, kMostStages, &Reading::read_stage);
    if (status) status = each(root, "event", 0, kMostEvents, &Reading::read_event);
    if (!status) return pass(status);
    std::ranges::stable_sort(model_.events, {}, &tuner::ModelEvent::at_seconds);
    return std::move(model_);
  }

 private:
  Status read_trainer(const toml::table& root) {
    const toml::node* node = root.get("trainer");
    if (node == nullptr) return refuse_table(file_, "has no [trainer]");
    if (!node->is_table()) {
      return refuse_table(at_line(file_, *node), "trainer must be a table: [trainer]");
    }
    TomlFields table(file_, *node->as_table(), "trainer.", {"pause"});
    trainer_fields(table, model_);
    if (auto status = table.finish(); !status) return status;
    auto pause = table_in(*node->as_table(), "trainer.pause", "pause");
    if (!pause) return pass(pause);
    if (*pause == nullptr) return {};
    model_.pause.emplace();
    TomlFields fields(file_, **pause, "trainer.pause.");
    pause_fields(fields, *model_.pause);
    if (auto status = fields.finish(); !status) return status;
    if (model_.pause->seconds < model_.pause->every) return {};
    return refuse_table(
        fields.where(),
        printed("trainer.pause.seconds is %g, but must be less than ", model_.pause->seconds) +
            printed("every = %g", model_.pause->every));
  }

  /// The table that is the value of a key; null if there is no such key.
  Result<const toml::table*> table_in(const toml::table& from, const std::string& name,
                                      std::string_view key) const {
    const toml::node* node = from.get(key);
    if (node == nullptr || node->is_table()) return node == nullptr ? nullptr : node->as_table();
    return fail(Code::kInvalid,
                at_line(file_, *node) + ": " + name + " must be a table: { name = value, … }");
  }

  Status read_node(const toml::table& from) {
    TomlFields table(file_, from, "node.");
    NodeModel node;
    node_fields(table, node);
    Status status = table.finish();
    if (status) status = check_allocated_name(table, "node.name", node.name, true);
    if (!status) return status;
    if (named(model_.nodes, node.name) != model_.nodes.end()) {
      return refuse_table(table.where(), "node.name is \"" + node.name +
                                             "\", but an earlier node has that name; rename one");
    }
    model_.nodes.push_back(std::move(node));
    return {};
  }

  Status check_nodes() const {
    const auto own = std::ranges::count(model_.nodes, true, &NodeModel::trainer);
    if (own == 1 || model_.nodes.empty()) return {};
    return refuse_table(file_, "has " + std::to_string(own) +
                                   " [[node]] with trainer = true, but must have exactly one");
  }

  Status read_resource(const toml::table& from) {
    TomlFields table(file_, from, "resource.");
    ResourceModel resource;
    std::string node;
    resource_fields(table, resource, node);
    if (auto status = table.finish(); !status) return status;
    if (from.contains("node")) {
      const auto found = named(model_.nodes, node);
      if (found == model_.nodes.end()) {
        return refuse_table(table.where(), unknown("resource.node", node, model_.nodes, "node"));
      }
      resource.node = static_cast<std::size_t>(found - model_.nodes.begin());
    }
    for (const ResourceModel& other : model_.resources) {
      if (other.name != resource.name) continue;
      if (other.node && resource.node && *other.node != *resource.node) continue;
      return refuse_table(
          table.where(),
          "resource.name is \"" + resource.name +
              "\", but an earlier resource of the same nodes has that name; rename one");
    }
    model_.resources.push_back(std::move(resource));
    return {};
  }

  Status read_uses(const toml::table& from, StageModel& stage) {
    auto table = table_in(from, "stage.uses", "uses");
    if (!table) return pass(table);
    if (*table == nullptr) return {};
    TomlFields fields(file_, **table, "stage.uses.");
    for (const auto& [key, node] : **table) {
      const std::string name(key.str());
      if (named(model_.resources, name) == model_.resources.end()) {
        return refuse_table(at_line(file_, node), unknown("stage.uses", name.substr(0, 200),
                                                          model_.resources, "resource"));
      }
      tuner::ResourceUse use{.resource = name};
      fields.needs(key.str(), use.units, 0, kMostUnits);
      stage.uses.push_back(std::move(use));
    }
    return fields.finish();
  }

  Status read_tail(const toml::table& from, StageModel& stage) {
    auto table = table_in(from, "stage.tail", "tail");
    if (!table) return pass(table);
    if (*table == nullptr) return {};
    TomlFields fields(file_, **table, "stage.tail.");
    tail_fields(fields, stage.tail.emplace());
    return fields.finish();
  }

  /// Reads every `[[name]]`; there must be from `fewest` to `most`.
  Status each(const toml::table& root, const std::string& name, std::size_t fewest,
              std::size_t most, Status (Reading::*read)(const toml::table&)) {
    const toml::node* node = root.get(name);
    const toml::array* list = node == nullptr ? nullptr : node->as_array();
    if (node != nullptr && (list == nullptr || (!list->empty() && !list->is_array_of_tables()))) {
      return refuse_table(at_line(file_, *node), name + " must be tables: [[" + name + "]]");
    }
    const std::size_t count = list == nullptr ? 0 : list->size();
    if (count < fewest || count > most) {
      return refuse_table(file_, "has " + std::to_string(count) + " [[" + name +
                                     "]], but must have from " + std::to_string(fewest) + " to " +
                                     std::to_string(most));
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (auto status = (this->*read)(*list->get_as<toml::table>(i)); !status) return status;
    }
    return {};
  }

  Status read_stage(const toml::table& from) {
    TomlFields table(file_, from, "stage.", {"uses", "tail"});
    StageModel stage;
    stage_fields(table, stage);
    Status status = table.finish();
    if (status) {
      status = check_allocated_name(table, "stage.name", stage.name, model_.nodes.empty());
    }
    if (status) status = check_max_rate(table, "stage.max_rate", stage.max_rate);
    if (status) status = read_uses(from, stage);
    if (status) status = read_tail(from, stage);
    if (!status) return status;
    if (!model_.stages.empty() && model_.stages.back().ordered) {
      return refuse_table(table.where(), "stage.ordered is true for \"" +
                                             model_.stages.back().name +
                                             "\", but only the last stage may be ordered");
    }
    if (named(model_.stages, stage.name) != model_.stages.end()) {
      return refuse_table(table.where(), "stage.name is \"" + stage.name +
                                             "\", but an earlier stage has that name; rename one");
    }
    model_.stages.push_back(std::move(stage));
    return {};
  }

  Status read_event(const toml::table& from) {
    if (from.contains("stage")) return read_stage_event(from);
    if (from.contains("node")) return read_node_event(from);
    if (from.contains("resource")) return read_resource_event(from);
    TomlFields table(file_, from, "event.");
    tuner::ModelEvent event;
    machine_event_fields(table, event);
    return add_event(from, table, event,
                     "; give it cpus, memory_bytes or trainer_step_seconds, or a stage");
  }

  Status read_stage_event(const toml::table& from) {
    TomlFields table(file_, from, "event.");
    tuner::ModelEvent event;
    std::string stage;
    stage_event_fields(table, event, stage);
    event.stage = position(model_.stages, stage);
    if (auto status =
            add_event(from, table, event, " of its stage; give it seconds_factor or max_rate");
        !status) {
      return status;
    }
    if (!event.stage) {
      return refuse_table(table.where(), unknown("event.stage", stage, model_.stages, "stage"));
    }
    return check_max_rate(table, "event.max_rate", event.max_rate.value_or(0));
  }

  Status read_node_event(const toml::table& from) {
    TomlFields table(file_, from, "event.");
    tuner::ModelEvent event;
    std::string node;
    node_event_fields(table, event, node);
    event.node = position(model_.nodes, node);
    if (auto status = add_event(from, table, event,
                                " of its node; give it cpus, memory_bytes, link_rate, "
                                "seconds_factor or present");
        !status) {
      return status;
    }
    if (!event.node) {
      return refuse_table(table.where(), unknown("event.node", node, model_.nodes, "node"));
    }
    if (event.present && event.over_seconds > 0) {
      return refuse_table(table.where(),
                          printed("event.over_seconds is %g, but ", event.over_seconds) +
                              "event.present changes at once: leave one of the two out");
    }
    if (!event.present.value_or(true) && model_.nodes[*event.node].trainer) {
      return refuse_table(table.where(), "event.present is false for \"" + node +
                                             "\", but the trainer's own node cannot be lost");
    }
    return {};
  }

  Status read_resource_event(const toml::table& from) {
    TomlFields table(file_, from, "event.");
    tuner::ModelEvent event;
    std::string resource;
    resource_event_fields(table, event, resource);
    event.resource = resource;
    if (auto status = add_event(from, table, event, " of its resource; give it a rate"); !status) {
      return status;
    }
    if (named(model_.resources, resource) != model_.resources.end()) return {};
    return refuse_table(table.where(),
                        unknown("event.resource", resource, model_.resources, "resource"));
  }

  static std::optional<std::size_t> position(const auto& list, const std::string& name) {
    const auto found = named(list, name);
    if (found == list.end()) return std::nullopt;
    return static_cast<std::size_t>(found - list.begin());
  }

  Status add_event(const toml::table& from, const TomlFields& table, const tuner::ModelEvent& event,
                   const std::string& wanted) {
    if (auto status = table.finish(); !status) return status;
    std::size_t changes = 0;
    for (const std::string_view key : {"at_seconds", "over_seconds", "stage", "node", "resource"}) {
      if (from.contains(key)) ++changes;
    }
    changes = from.size() - changes;
    if (changes == 0) return refuse_table(table.where(), "event changes nothing" + wanted);
    model_.events.push_back(event);
    return {};
  }

  const std::string_view file_;
  PipelineModel model_;
};

}  // namespace

Result<PipelineModel> read_pipeline(const toml::table& root, std::string_view file) {
  return Reading(file).model(root);
}

}  // namespace forebay
