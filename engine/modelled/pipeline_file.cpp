#include "engine/modelled/pipeline_file.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "actors/source/index/partial_file.h"
#include "engine/job/quantity.h"
#include "engine/job/text_file.h"
#include "engine/job/toml_text.h"
#include "engine/modelled/pipeline_keys.h"
#include "engine/modelled/pipeline_reader.h"
#include "engine/modelled/toml_fields.h"
#include "tuner/allocation.h"
#include "tuner/world/world_layout.h"

namespace forebay {
namespace {

using tuner::NodeModel;
using tuner::PipelineModel;
using tuner::ResourceModel;
using tuner::StageModel;

/// Checks that one actor a stage and a prefetch of 1 fit into every node's memory at every limit
/// that events set.
class MemoryCheck {
 public:
  MemoryCheck(const PipelineModel& model, std::string_view file) : model_(model), file_(file) {
    for (std::size_t k = 0; k < tuner::nodes_of(model).size(); ++k) {
      const tuner::PipelineDescription description = tuner::node_description(model, k);
      tuner::Allocation least = tuner::one_each(description);
      least.prefetch = 1;
      wanted_.push_back(tuner::worst_case_bytes(description, least));
    }
  }

  Status run() const {
    Status status;
    if (model_.nodes.empty()) status = check(0, "memory_bytes", model_.memory_bytes);
    for (std::size_t k = 0; status && k < model_.nodes.size(); ++k) {
      status = check(k, "node.memory_bytes", model_.nodes[k].memory_bytes);
    }
    for (std::size_t i = 0; status && i < model_.events.size(); ++i) {
      status = check(model_.events[i]);
    }
    return status;
  }

 private:
  Status check(const tuner::ModelEvent& event) const {
    if (!event.memory_bytes) return {};
    Status status;
    for (std::size_t k = 0; status && k < wanted_.size(); ++k) {
      if (event.node.value_or(k) == k) status = check(k, "event.memory_bytes", *event.memory_bytes);
    }
    return status;
  }

  Status check(std::size_t node, const std::string& what, std::uint64_t limit) const {
    const std::uint64_t wanted = wanted_[node];
    if (limit >= wanted) return {};
    const std::string of =
        model_.nodes.empty() ? "" : " of node \"" + model_.nodes[node].name + "\"";
    return fail(Code::kInvalid,
                std::string(file_) + ": " + what + of + " is " + std::to_string(limit) +
                    ", but one actor a stage with full queues and a prefetch of 1 takes " +
                    std::to_string(wanted) + " bytes (" + format_size(wanted) + ")");
  }

  const PipelineModel& model_;
  const std::string_view file_;
  std::vector<std::uint64_t> wanted_;  // By node.
};

void write_stage(FieldWriter& fields, const StageModel& stage) {
  fields.table("[[stage]]");
  stage_fields(fields, stage);
  std::vector<std::pair<std::string, double>> uses;
  for (const tuner::ResourceUse& use : stage.uses) uses.emplace_back(use.resource, use.units);
  if (!uses.empty()) fields.numbers("uses", uses);
  if (stage.tail) {
    fields.numbers("tail", {{"share", stage.tail->share}, {"shape", stage.tail->shape}});
  }
}

void write_event(FieldWriter& fields, const tuner::ModelEvent& event, const PipelineModel& model) {
  fields.table("[[event]]");
  if (event.stage) {
    stage_event_fields(fields, event, model.stages[*event.stage].name);
  } else if (event.node) {
    node_event_fields(fields, event, model.nodes[*event.node].name);
  } else if (event.resource) {
    resource_event_fields(fields, event, *event.resource);
  } else {
    machine_event_fields(fields, event);
  }
}

}  // namespace

std::string pipeline_text(const tuner::PipelineModel& model) {
  FieldWriter fields;
  machine_fields(fields, model);
  fields.table("[trainer]");
  trainer_fields(fields, model);
  if (model.pause) {
    fields.numbers("pause", {{"every", model.pause->every}, {"seconds", model.pause->seconds}});
  }
  for (const StageModel& stage : model.stages) write_stage(fields, stage);
  for (const NodeModel& node : model.nodes) {
    fields.table("[[node]]");
    node_fields(fields, node);
  }
  for (const ResourceModel& resource : model.resources) {
    fields.table("[[resource]]");
    const std::string node = resource.node ? model.nodes[*resource.node].name : std::string();
    resource_fields(fields, resource, node);
  }
  for (const tuner::ModelEvent& event : model.events) write_event(fields, event, model);
  return fields.text();
}

Result<PipelineModel> parse_pipeline(std::string_view text, std::string_view name) {
  auto tables = read_toml(text, name);
  if (!tables) return pass(tables);
  auto model = read_pipeline(*tables, name);
  if (!model) return model;
  if (auto checked = MemoryCheck(*model, name).run(); !checked) return pass(checked);
  return model;
}

Result<PipelineModel> load_pipeline(const std::string& path) {
  auto text = read_text_file("pipeline file", path);
  if (!text) return pass(text);
  return parse_pipeline(*text, path);
}

Status save_pipeline(const PipelineModel& model, const std::string& path) {
  auto file = PartialFile::create(path);
  if (!file) return pass(file);
  if (auto written = file->write(pipeline_text(model)); !written) return written;
  return file->commit();
}

}  // namespace forebay
