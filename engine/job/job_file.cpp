#include "engine/job/job_file.h"

#include <filesystem>
#include <utility>

#include "engine/job/job_keys.h"
#include "engine/job/job_rules.h"
#include "engine/job/text_file.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

std::string resolve(const std::string& base_dir, const std::string& path) {
  if (path.empty() || path.front() == '/' || base_dir == ".") return path;
  return (fs::path(base_dir) / path).string();
}

/// Reads one key of transform `number` into `spec`; a key that is none of ours is a parameter.
Status read_transform_key(const std::string& key, const JobValue& given, std::size_t number,
                          TransformSpec& spec) {
  const auto refused = [&](const std::string& why) {
    return fail(Code::kInvalid, given.where + ": transform." + std::to_string(number) + why);
  };
  const auto* text = std::get_if<std::string>(&given.value);
  if (key == "op") {
    if (text == nullptr) return refused(".op must be a string");
    spec.op = *text;
  } else if (key == "columns") {
    const auto* list = std::get_if<std::vector<std::string>>(&given.value);
    if (text == nullptr && list == nullptr) return refused(".columns must be a list of strings");
    spec.columns = text != nullptr ? std::vector<std::string>{*text} : *list;
  } else if (key == "stage") {
    if (text == nullptr || text->empty()) return refused(".stage must be a stage's name");
    spec.stage = *text;
  } else {
    spec.params[key] = given.value;
  }
  return {};
}

Result<TransformSpec> read_transform(const JobDocument::Transform& from, std::size_t number) {
  TransformSpec spec;
  for (const auto& [key, given] : from.values) {
    if (auto read = read_transform_key(key, given, number, spec); !read) return pass(read);
  }
  if (spec.op.empty()) {
    return fail(Code::kInvalid, from.where + ": transform " + std::to_string(number) +
                                    " has no op; see forebay inspect --ops");
  }
  return spec;
}

Status read_transforms(const JobDocument& document, JobSpec& job) {
  for (const JobDocument::Transform& from : document.transforms) {
    auto spec = read_transform(from, job.transforms.size());
    if (!spec) return pass(spec);
    const auto library = spec->params.find("library");
    if (library != spec->params.end()) {
      if (auto* path = std::get_if<std::string>(&library->second)) {
        *path = resolve(job.base_dir, *path);
        // The dynamic linker looks up a bare name among the system's libraries.
        if (path->find('/') == std::string::npos) path->insert(0, "./");
      }
    }
    job.transforms.push_back(std::move(*spec));
  }
  return {};
}

/// Sets the stages that the transforms make, with one actor each.
Status make_stages(JobSpec& job) {
  auto stages = stages_of(job.transforms);
  if (!stages) return fail(Code::kInvalid, job.path + ": " + stages.error().message);
  job.stages = std::move(*stages);
  job.pipeline.actors.assign(job.stages.size(), 1);
  return {};
}

}  // namespace

Result<JobSpec> load_job(const std::string& path, const std::vector<std::string>& sets,
                         const JobDefaults& defaults) {
  auto text = read_text_file("job file", path);
  if (!text) return pass(text);
  return parse_job(std::move(*text), path, sets, defaults);
}

Result<JobSpec> parse_job(std::string text, const std::string& path,
                          const std::vector<std::string>& sets, const JobDefaults& defaults) {
  auto document = parse_toml(text, path);
  if (!document) return pass(document);
  for (const std::string& set : sets) {
    if (auto applied = apply_set(*document, set); !applied) return pass(applied);
  }
  auto job = read_job(*document, path, defaults);
  if (job) job->source = {.text = std::move(text), .sets = sets};
  return job;
}

Result<JobSpec> read_job(const JobDocument& document, const std::string& path,
                         const JobDefaults& defaults) {
  JobSpec job;
  job.path = path;
  job.base_dir = fs::path(path).parent_path().string();
  if (job.base_dir.empty()) job.base_dir = ".";
  job.pipeline.cpus = defaults.cpus;
  job.pipeline.memory_bytes = defaults.memory_bytes;
  job.run.dir = ".forebay";
  if (auto read = read_transforms(document, job); !read) return pass(read);
  if (auto made = make_stages(job); !made) return pass(made);
  if (auto read = read_keys(document, job); !read) return pass(read);
  job.run.dir = resolve(job.base_dir, job.run.dir);
  job.cluster.keys = resolve(job.base_dir, job.cluster.keys);
  if (names_a_file(job.cluster.head)) job.cluster.head = resolve(job.base_dir, job.cluster.head);
  job.trainer.checkpoint = resolve(job.base_dir, job.trainer.checkpoint);
  job.trainer.tables.folder = job.run.dir + "/tables";
  if (!document.values.contains("trainer.tables.memory")) {
    job.trainer.tables.memory_bytes = job.pipeline.memory_bytes / 4;
  }
  job.trainer.tensorboard = resolve(job.base_dir, job.trainer.tensorboard);
  job.trainer.csv = resolve(job.base_dir, job.trainer.csv);
  if (auto checked = check_combinations(job); !checked) return pass(checked);
  return job;
}

}  // namespace forebay
