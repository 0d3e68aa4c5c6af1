#include "engine/modelled/pipeline_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "actors/source/partial_file.h"
#include "engine/job/nearest.h"
#include "engine/job/quantity.h"
#include "engine/job/text_file.h"
#include "engine/modelled/table_reader.h"
#include "tuner/allocation.h"

namespace forebay {
namespace {

using tuner::ModelEvent;
using tuner::PipelineModel;
using tuner::StageModel;

Status refuse(std::string_view where, const std::string& what) {
  return fail(Code::kInvalid, std::string(where) + ": " + what);
}

void read_machine(const PipelineDocument& document, PipelineModel& model) {
  model.name = document.top.text("name");
  document.top.number("cpus", model.cpus);
  document.top.whole("memory_bytes", model.memory_bytes);
  document.top.whole("base_bytes", model.base_bytes);
  document.top.whole("rows_per_split", model.rows_per_split);
  document.top.whole("queue_splits", model.queue_splits);
  document.trainer.number("step_seconds", model.trainer_step_seconds);
  document.trainer.whole("prefetch_splits", model.prefetch_splits);
}

StageModel read_stage(const PipelineTable& table) {
  StageModel stage;
  stage.name = table.text("name");
  table.number("seconds", stage.seconds);
  table.number("cpu", stage.cpu);
  table.number("alpha", stage.alpha);
  table.number("beta", stage.beta);
  table.number("noise", stage.noise);
  table.number("max_rate", stage.max_rate);
  table.whole("max_actors", stage.max_actors);
  table.whole("bytes_per_actor", stage.bytes_per_actor);
  table.whole("bytes_out", stage.bytes_out);
  return stage;
}

auto named(const std::vector<StageModel>& stages, const std::string& name) {
  return std::find_if(stages.begin(), stages.end(),
                      [&](const StageModel& stage) { return stage.name == name; });
}

Status read_stages(const PipelineDocument& document, PipelineModel& model) {
  for (const PipelineTable& table : document.stages) {
    StageModel stage = read_stage(table);
    if (named(model.stages, stage.name) != model.stages.end()) {
      return refuse(table.where, "stage.name is \"" + stage.name +
                                     "\", but an earlier stage has that name; rename one");
    }
    model.stages.push_back(std::move(stage));
  }
  return {};
}

Result<ModelEvent> read_event(const PipelineTable& table, const PipelineModel& model) {
  ModelEvent event;
  table.number("at_seconds", event.at_seconds);
  table.number("seconds_factor", event.seconds_factor);
  table.number("max_rate", event.max_rate);
  table.number("cpus", event.cpus);
  table.whole("memory_bytes", event.memory_bytes);
  table.number("trainer_step_seconds", event.trainer_step_seconds);
  if (!table.has("stage")) return event;
  const auto found = named(model.stages, table.text("stage"));
  if (found == model.stages.end()) {
    std::vector<std::string_view> names;
    for (const StageModel& stage : model.stages) names.push_back(stage.name);
    auto unknown = refuse(table.where, "event.stage is \"" + table.text("stage") +
                                           "\", which no stage is called" +
                                           did_you_mean(table.text("stage"), names));
    return pass(unknown);
  }
  event.stage = static_cast<std::size_t>(found - model.stages.begin());
  return event;
}

Status read_events(const PipelineDocument& document, PipelineModel& model) {
  for (const PipelineTable& table : document.events) {
    auto event = read_event(table, model);
    if (!event) return pass(event);
    model.events.push_back(*event);
  }
  std::stable_sort(
      model.events.begin(), model.events.end(),
      [](const ModelEvent& a, const ModelEvent& b) { return a.at_seconds < b.at_seconds; });
  return {};
}

/// Checks that one actor a stage and a prefetch of 1 fit into memory at every limit that events
/// set.
Status check_memory(const PipelineModel& model, std::string_view name) {
  const tuner::PipelineDescription description = tuner::description_of(model);
  tuner::Allocation least = tuner::one_each(description);
  least.prefetch = 1;
  const std::uint64_t wanted = tuner::worst_case_bytes(description, least);
  const auto check = [&](const std::string& what, std::uint64_t limit) -> Status {
    if (limit >= wanted) return {};
    return refuse(name, what + " is " + std::to_string(limit) +
                            ", but one actor a stage with full queues and a prefetch of 1 takes " +
                            std::to_string(wanted) + " bytes (" + format_size(wanted) + ")");
  };
  Status status = check("memory_bytes", model.memory_bytes);
  for (std::size_t i = 0; status && i < model.events.size(); ++i) {
    status = check("event.memory_bytes", model.events[i].memory_bytes.value_or(wanted));
  }
  return status;
}

}  // namespace

Result<PipelineModel> parse_pipeline(std::string_view text, std::string_view name) {
  auto document = read_tables(text, name);
  if (!document) return pass(document);
  PipelineModel model;
  read_machine(*document, model);
  Status status = read_stages(*document, model);
  if (status) status = read_events(*document, model);
  if (status) status = check_memory(model, name);
  if (!status) return pass(status);
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
