#include "engine/outputs/job_files.h"

#include <filesystem>
#include <variant>

#include "actors/format/formats.h"
#include "actors/input/file_system.h"
#include "actors/input/store/stores.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

using Kind = Output::Kind;

// The files of a job's data, as its format sees them; a format that does not exist is refused
// later.
FileSystems data_files(const JobSpec& job) {
  const auto format = Formats().of(job.dataset.format);
  return format ? format->files_of(all_file_systems({})) : all_file_systems({});
}

void add_data(Inputs& inputs, const std::string& key, const std::vector<std::string>& paths,
              const FileSystems& systems, const std::string& base_dir) {
  for (const std::string& path : paths) {
    for (const std::string& file : systems.local_paths(path, base_dir)) inputs.add_file(key, file);
  }
}

}  // namespace

Inputs inputs_of(const JobSpec& job) {
  Inputs inputs;
  inputs.add_file("the job file", job.path);
  const FileSystems systems = data_files(job);
  add_data(inputs, "dataset.paths", job.dataset.paths, systems, job.base_dir);
  add_data(inputs, "trainer.evaluate", job.trainer.evaluate, systems, job.base_dir);
  inputs.add_files_below("cluster.keys", job.cluster.keys);
  for (const TransformSpec& transform : job.transforms) {
    const auto library = transform.params.find("library");
    if (library == transform.params.end()) continue;
    if (const auto* path = std::get_if<std::string>(&library->second)) {
      inputs.add_file("a transform's library", *path);
    }
  }
  if (!job.trainer.checkpoint.empty()) {
    inputs.checkpoints.push_back(fs::absolute(job.trainer.checkpoint).lexically_normal().string());
  }
  return inputs;
}

std::vector<Output> outputs_of(const JobSpec& job, const std::string& command) {
  std::vector<Output> outputs;
  const auto add = [&](const std::string& name, Kind kind) {
    outputs.push_back({.name = "run.dir", .path = job.run.dir + "/" + name, .kind = kind});
  };
  for (const char* name : {"lock", "quarantine.tsv", "quarantine-evaluate.tsv", "address",
                           "threads.jsonl", "record.json", "plan", "decisions.jsonl",
                           "decisions.1.jsonl", "decisions.2.jsonl", "decisions.3.jsonl"}) {
    add(name, Kind::kFile);
  }
  add("logs/" + command + ".log", Kind::kFile);
  add("spill", Kind::kSweptFolder);
  if (command != "train") return outputs;
  const TrainerSpec& trainer = job.trainer;
  if (trainer.tables.storage == TrainerSpec::Storage::kTiered) add("tables", Kind::kSweptFolder);
  if (!trainer.csv.empty()) outputs.push_back({.name = "trainer.csv", .path = trainer.csv});
  if (!trainer.tensorboard.empty()) {
    outputs.push_back(
        {.name = "trainer.tensorboard", .path = trainer.tensorboard, .kind = Kind::kFolder});
  }
  if (!trainer.checkpoint.empty()) {
    outputs.push_back(
        {.name = "trainer.checkpoint", .path = trainer.checkpoint, .kind = Kind::kCheckpoints});
  }
  return outputs;
}

Result<PublishedInputs> guard_inputs(const Inputs& inputs, const std::vector<Output>& outputs,
                                     const PublishedInputs::Say& say) {
  auto published = PublishedInputs::publish(inputs, say);
  if (auto status = check_outputs(outputs, inputs); !status) return pass(status);
  return published;
}

}  // namespace forebay
