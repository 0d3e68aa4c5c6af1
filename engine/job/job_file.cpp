#include "engine/job/job_file.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "actors/operator_table.h"
#include "actors/stage_groups.h"
#include "engine/job/job_keys.h"
#include "engine/job/text_file.h"
#include "engine/job/toml_library.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhere = "the job's values";

std::string resolve(const std::string& base_dir, const std::string& path) {
  if (path.empty() || path.front() == '/' || base_dir == ".") return path;
  return (fs::path(base_dir) / path).string();
}

/// Modules are looked for in the job's folder, unless it names others. An interpreter without a
/// slash is one of PATH.
void resolve_python_paths(const std::string& base_dir, TransformSpec& spec) {
  ParamValue& folders =
      spec.params.try_emplace("path", std::vector<std::string>{"."}).first->second;
  if (auto* list = std::get_if<std::vector<std::string>>(&folders)) {
    for (std::string& folder : *list) {
      folder = fs::absolute(resolve(base_dir, folder)).lexically_normal().string();
    }
  }
  const auto interpreter = spec.params.find("interpreter");
  if (interpreter == spec.params.end()) return;
  auto* program = std::get_if<std::string>(&interpreter->second);
  if (program != nullptr && program->find('/') != std::string::npos) {
    *program = resolve(base_dir, *program);
  }
}

/// Whether the name of a value stands for an empty table.
bool is_empty_table(const std::string& name) { return name.ends_with('.'); }

/// Reads one key of transform `number` into `spec`; a key that is none of ours is a parameter.
Status read_transform_key(const std::string& key, const JobValue& given, std::size_t number,
                          TransformSpec& spec) {
  const auto refused = [&](const std::string& why) {
    return fail(Code::kInvalid, given.where + ": " + operator_table(number) + ": " + why);
  };
  const auto* text = std::get_if<std::string>(&given.value);
  if (key == "op") {
    if (text == nullptr) return refused("op must be a string");
    spec.op = *text;
  } else if (key == "columns") {
    const auto* list = std::get_if<std::vector<std::string>>(&given.value);
    if (text == nullptr && list == nullptr) return refused("columns must be a list of strings");
    spec.columns = text != nullptr ? std::vector<std::string>{*text} : *list;
  } else if (key == "stage") {
    if (text == nullptr || text->empty()) return refused("stage must be a stage's name");
    spec.stage = *text;
  } else if (is_empty_table(key)) {
    return refused(key.substr(0, key.size() - 1) + " must be a value, not a table");
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
    return fail(Code::kInvalid, from.where + ": " + operator_table(number) +
                                    " has no op; see forebay inspect --ops");
  }
  return spec;
}

void resolve_paths(const std::string& base_dir, TransformSpec& spec) {
  const auto library = spec.params.find("library");
  if (library != spec.params.end()) {
    if (auto* path = std::get_if<std::string>(&library->second)) {
      *path = resolve(base_dir, *path);
      // The dynamic linker looks up a bare name among the system's libraries.
      if (path->find('/') == std::string::npos) path->insert(0, "./");
    }
  }
  if (spec.op == kPythonOp) resolve_python_paths(base_dir, spec);
}

Status read_transforms(const JobDocument& document, JobSpec& job) {
  for (const JobDocument::Transform& from : document.transforms) {
    auto spec = read_transform(from, job.transforms.size());
    if (!spec) return pass(spec);
    resolve_paths(job.base_dir, *spec);
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

/// Whether it runs a Python function that no other machine can import.
bool goes_by_value(const TransformSpec& spec) {
  return spec.op == kPythonOp && spec.params.contains("pickled");
}

/// Keys that contradict each other although each is valid on its own.
struct Contradiction {
  bool found = false;
  std::string what;
};

/// `groups`: those that the job lists.
std::vector<Contradiction> contradictions(const JobSpec& job, const StageGroups& groups) {
  const TrainerSpec& trainer = job.trainer;
  // Files of these formats do not say which of their columns a model sees.
  const std::string& format = job.dataset.format;
  const bool named = format == "csv" || format == "parquet";
  const std::string& list_delimiter = job.dataset.csv.list_delimiter;
  const bool has_rows = !trainer.evaluate.empty() || trainer.evaluate_share > 0;
  const std::uint64_t actors =
      total_actors(groups, start_actors(groups, job.pipeline.actors, 1, false));
  return {
      {job.dataset.paths.empty(),
       "dataset.paths is missing; name the files to read, as in paths = [\"data/*.tsv\"]"},
      {named && job.columns.label.empty(), "columns.label is missing; with format = \"" + format +
                                               "\" it names the column that holds 0 or 1"},
      {named && job.columns.dense.empty() && job.columns.sparse.empty(),
       "columns.dense and columns.sparse are missing; with format = \"" + format +
           "\" they name what the model sees"},
      {!list_delimiter.empty() && list_delimiter.front() == job.dataset.csv.delimiter,
       "dataset.csv.list_delimiter must differ from dataset.csv.delimiter"},
      {!trainer.evaluate.empty() && trainer.evaluate_share > 0,
       "trainer.evaluate and trainer.evaluate_share exclude each other; remove one"},
      {trainer.evaluate_every > 0 && !has_rows,
       "trainer.evaluate_every has no rows to evaluate on; set trainer.evaluate_share or "
       "trainer.evaluate, too"},
      {trainer.early_stopping > 0 && trainer.evaluate_every == 0,
       "trainer.early_stopping goes by evaluations; set trainer.evaluate_every, too"},
      {job.max_actors > 0 && actors > job.max_actors,
       "pipeline.allocation has " + std::to_string(actors) +
           " actors in all, but pipeline.max_actors allows " + std::to_string(job.max_actors)},
      {job.cluster.used() && std::ranges::any_of(job.transforms, goes_by_value),
       "transform.pickled: a function of the main script goes to its processes by value, and "
       "cannot go "
       "to workers; move it into a module that they can import (forebay worker --python-path DIR)"},
      {!job.cluster.local && !job.cluster.used(),
       "cluster.local = false, but no worker can join; set cluster.listen, too"},
      {job.run.stall_fail < job.run.stall_after, "run.stall_fail must be at least run.stall_after"},
  };
}

Status check_combinations(const JobSpec& job) {
  auto groups = listed_groups(job.pipeline.fuse.groups, job.stages);
  if (!groups) return fail(Code::kInvalid, job.path + ": " + groups.error().message);
  for (const Contradiction& each : contradictions(job, *groups)) {
    if (each.found) return fail(Code::kInvalid, job.path + ": " + each.what);
  }
  return {};
}

template <class T>
std::string text_of(const T& value) {
  std::ostringstream text;
  text << toml::value<T>(value);
  return text.str();
}

template <class T>
std::string text_of(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) text.append(text.empty() ? "" : ", ").append(text_of(value));
  return "[" + text + "]";
}

/// A dotted name in TOML; parts that are not bare keys are quoted.
std::string key_text(const std::string& name) {
  constexpr const char* kBare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  const bool bare = !name.empty() && name.find_first_not_of(kBare) == std::string::npos;
  return bare ? name : text_of(name);
}

void add(std::string& text, const JobValues::Table& table) {
  for (const auto& [name, value] : table) {
    if (is_empty_table(name)) continue;
    text += key_text(name) + " = " + to_toml(value) + '\n';
  }
}

void add_transforms(std::string& text, const std::vector<JobValues::Table>& transforms) {
  for (const JobValues::Table& transform : transforms) {
    text += "\n[[transform]]\n";
    add(text, transform);
  }
}

/// Moves the names of empty tables out of `document.values`.
void open_tables(JobDocument& document) {
  std::erase_if(document.values, [&](const auto& named) {
    const auto& [name, given] = named;
    if (!is_empty_table(name)) return false;
    document.tables[name.substr(0, name.size() - 1)] = given.where;
    return true;
  });
}

JobDocument::Values placed(const JobValues::Table& table, const std::string& where) {
  JobDocument::Values values;
  for (const auto& [name, value] : table) values[name] = {.value = value, .where = where};
  return values;
}

}  // namespace

Result<JobSpec> load_job(const std::string& path, const std::vector<std::string>& sets,
                         const JobDefaults& defaults,
                         const std::vector<JobValues::Table>& transforms) {
  auto text = read_text_file("job file", path);
  if (!text) return pass(text);
  add_transforms(*text, transforms);
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
  for (std::string* file : {&job.run.dir, &job.cluster.keys, &job.trainer.checkpoint,
                            &job.trainer.tensorboard, &job.trainer.csv}) {
    *file = resolve(job.base_dir, *file);
  }
  if (names_a_file(job.cluster.head)) job.cluster.head = resolve(job.base_dir, job.cluster.head);
  job.trainer.tables.folder = job.run.dir + "/tables";
  if (!document.values.contains("trainer.tables.memory")) {
    job.trainer.tables.memory_bytes = job.pipeline.memory_bytes / 4;
  }
  if (auto checked = check_combinations(job); !checked) return pass(checked);
  return job;
}

std::string to_toml(const ParamValue& value) {
  return std::visit([](const auto& held) { return text_of(held); }, value);
}

std::string to_toml(const JobValues& job) {
  std::string text;
  add(text, job.values);
  add_transforms(text, job.transforms);
  return text;
}

Result<JobSpec> read_values(const JobValues& job, const std::vector<std::string>& sets,
                            const JobDefaults& defaults) {
  JobDocument document;
  document.values = placed(job.values, kWhere);
  open_tables(document);
  for (const JobValues::Table& transform : job.transforms) {
    document.transforms.push_back({.where = kWhere, .values = placed(transform, kWhere)});
  }
  for (const std::string& set : sets) {
    if (auto applied = apply_set(document, set); !applied) return pass(applied);
  }
  auto spec = read_job(document, job.folder + "/job", defaults);
  if (spec) spec->source = {.text = to_toml(job), .sets = sets};
  return spec;
}

}  // namespace forebay
