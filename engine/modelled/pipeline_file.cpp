#include "engine/modelled/pipeline_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "actors/source/index/partial_file.h"
#include "core/base/text/nearest.h"
#include "engine/job/quantity.h"
#include "engine/job/text_file.h"
#include "engine/job/toml_text.h"
#include "engine/modelled/toml_fields.h"
#include "tuner/allocation.h"

namespace forebay {
namespace {

// The keys of each table of a pipeline file, for its reader and for its writer: `Fields` has
// needs(key, member, low, high) for a key that must be there and may(…) for one that need not.
// Ranges are so narrow that no sum over a pipeline overflows.

constexpr double kMostMemory = 0x1.0p60;
constexpr double kMostActorBytes = 0x1.0p44;  // 64 stages of 4096 such actors are 2⁶² bytes.
constexpr double kMostSplitBytes = 0x1.0p40;  // 64 queues of 65536 such splits are 2⁶² bytes.
constexpr double kMostCpus = 65536;
constexpr double kMostActors = 4096;
constexpr double kLongest = 1e4;  // Seconds of a service or a step; far beyond any use.
constexpr double kShortest = 1e-6;

void machine_fields(auto& fields, auto& model) {
  fields.needs("name", model.name);
  fields.needs("cpus", model.cpus, 1, kMostCpus);
  fields.needs("memory_bytes", model.memory_bytes, 1, kMostMemory);
  fields.needs("base_bytes", model.base_bytes, 0, kMostMemory);
  fields.needs("rows_per_split", model.rows_per_split, 1, 1e9);
  fields.needs("queue_splits", model.queue_splits, 1, 65536);
}

void trainer_fields(auto& fields, auto& model) {
  fields.needs("step_seconds", model.trainer_step_seconds, kShortest, kLongest);
  fields.needs("prefetch_splits", model.prefetch_splits, 1, 1e6);
}

void stage_fields(auto& fields, auto& stage) {
  fields.needs("name", stage.name);
  fields.needs("seconds", stage.seconds, kShortest, kLongest);
  fields.may("cpu", stage.cpu, 0, 1);
  fields.may("alpha", stage.alpha, 0, 10);
  fields.may("beta", stage.beta, 0, 10);
  fields.may("noise", stage.noise, 0, 10);
  fields.may("max_rate", stage.max_rate, 0, 1e6);
  fields.may("max_actors", stage.max_actors, 1, kMostActors);
  fields.needs("bytes_per_actor", stage.bytes_per_actor, 0, kMostActorBytes);
  fields.needs("bytes_out", stage.bytes_out, 0, kMostSplitBytes);
}

/// An event of the stage that is called `stage`.
void stage_event_fields(auto& fields, auto& event, auto& stage) {
  fields.needs("at_seconds", event.at_seconds, 0, 1e9);
  fields.needs("stage", stage);
  fields.may("seconds_factor", event.seconds_factor, 1e-3, 1e3);
  fields.may("max_rate", event.max_rate, 0, 1e6);
}

/// An event of the machine or the trainer.
void machine_event_fields(auto& fields, auto& event) {
  fields.needs("at_seconds", event.at_seconds, 0, 1e9);
  fields.may("cpus", event.cpus, 1, kMostCpus);
  fields.may("memory_bytes", event.memory_bytes, 1, kMostMemory);
  fields.may("trainer_step_seconds", event.trainer_step_seconds, kShortest, kLongest);
}

using tuner::PipelineModel;
using tuner::StageModel;

constexpr std::size_t kMostStages = 64;
constexpr std::size_t kMostEvents = 1000;

Status refuse(std::string_view where, const std::string& what) {
  return fail(Code::kInvalid, std::string(where) + ": " + what);
}

auto named(const std::vector<StageModel>& stages, const std::string& name) {
  return std::find_if(stages.begin(), stages.end(),
                      [&](const StageModel& stage) { return stage.name == name; });
}

/// Reads the tables of one file.
class Reading {
 public:
  explicit Reading(std::string_view file) : file_(file) {}

  Result<PipelineModel> model(const toml::table& root) {
    TomlFields top(file_, root, "", {"trainer", "stage", "event"});
    machine_fields(top, model_);
    Status status = top.finish();
    if (status) status = read_trainer(root);
    if (status) status = each(root, "stage", 1, kMostStages, &Reading::read_stage);
    if (status) status = each(root, "event", 0, kMostEvents, &Reading::read_event);
    if (!status) return pass(status);
    std::ranges::stable_sort(model_.events, {}, &tuner::ModelEvent::at_seconds);
    return std::move(model_);
  }

 private:
  Status read_trainer(const toml::table& root) {
    const toml::node* node = root.get("trainer");
    if (node == nullptr) return refuse(file_, "has no [trainer]");
    if (!node->is_table()) {
      return refuse(at_line(file_, *node), "trainer must be a table: [trainer]");
    }
    TomlFields table(file_, *node->as_table(), "trainer.");
    trainer_fields(table, model_);
    return table.finish();
  }

  /// Reads every `[[name]]`; there must be from `fewest` to `most`.
  Status each(const toml::table& root, const std::string& name, std::size_t fewest,
              std::size_t most, Status (Reading::*read)(const toml::table&)) {
    const toml::node* node = root.get(name);
    const toml::array* list = node == nullptr ? nullptr : node->as_array();
    if (node != nullptr && (list == nullptr || (!list->empty() && !list->is_array_of_tables()))) {
      return refuse(at_line(file_, *node), name + " must be tables: [[" + name + "]]");
    }
    const std::size_t count = list == nullptr ? 0 : list->size();
    if (count < fewest || count > most) {
      return refuse(file_, "has " + std::to_string(count) + " [[" + name +
                               "]], but must have from " + std::to_string(fewest) + " to " +
                               std::to_string(most));
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (auto status = (this->*read)(*list->get_as<toml::table>(i)); !status) return status;
    }
    return {};
  }

  Status read_stage(const toml::table& from) {
    TomlFields table(file_, from, "stage.");
    StageModel stage;
    stage_fields(table, stage);
    if (auto status = table.finish(); !status) return status;
    if (named(model_.stages, stage.name) != model_.stages.end()) {
      return refuse(table.where(), "stage.name is \"" + stage.name +
                                       "\", but an earlier stage has that name; rename one");
    }
    model_.stages.push_back(std::move(stage));
    return {};
  }

  Status read_event(const toml::table& from) {
    TomlFields table(file_, from, "event.");
    tuner::ModelEvent event;
    std::string stage;
    const bool of_stage = from.contains("stage");
    if (of_stage) {
      stage_event_fields(table, event, stage);
    } else {
      machine_event_fields(table, event);
    }
    if (auto status = table.finish(); !status) return status;
    if (from.size() <= (of_stage ? 2U : 1U)) {
      return refuse(table.where(), of_stage ? "event changes nothing of its stage; give it "
                                              "seconds_factor or max_rate"
                                            : "event changes nothing; give it cpus, memory_bytes "
                                              "or trainer_step_seconds, or a stage");
    }
    if (of_stage) {
      const auto found = named(model_.stages, stage);
      if (found == model_.stages.end()) return no_stage(table.where(), stage);
      event.stage = static_cast<std::size_t>(found - model_.stages.begin());
    }
    model_.events.push_back(event);
    return {};
  }

  Status no_stage(const std::string& where, const std::string& stage) const {
    std::vector<std::string_view> names;
    for (const StageModel& each : model_.stages) names.push_back(each.name);
    return refuse(where, "event.stage is \"" + stage + "\", which no stage is called" +
                             did_you_mean(stage, names));
  }

  const std::string_view file_;
  PipelineModel model_;
};

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

std::string pipeline_text(const tuner::PipelineModel& model) {
  FieldWriter fields;
  machine_fields(fields, model);
  fields.table("[trainer]");
  trainer_fields(fields, model);
  for (const tuner::StageModel& stage : model.stages) {
    fields.table("[[stage]]");
    stage_fields(fields, stage);
  }
  for (const tuner::ModelEvent& event : model.events) {
    fields.table("[[event]]");
    if (event.stage) {
      stage_event_fields(fields, event, model.stages[*event.stage].name);
    } else {
      machine_event_fields(fields, event);
    }
  }
  return fields.text();
}

Result<PipelineModel> parse_pipeline(std::string_view text, std::string_view name) {
  auto tables = read_toml(text, name);
  if (!tables) return pass(tables);
  auto model = Reading(name).model(*tables);
  if (!model) return model;
  if (auto checked = check_memory(*model, name); !checked) return pass(checked);
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
