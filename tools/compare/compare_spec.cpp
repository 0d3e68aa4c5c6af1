#include "tools/compare/compare_spec.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "engine/modelled/pipeline_file.h"
#include "tuner/emulated/emulated_machine.h"
#include "tuner/policy/policies.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

Result<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code problem;
  if (!fs::is_directory(path, problem)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  fs::directory_iterator entry(path, problem);
  for (; !problem && entry != fs::directory_iterator(); entry.increment(problem)) {
    if (entry->path().extension() == ".toml") files.push_back(entry->path().string());
  }
  if (problem) return fail(Code::kInvalid, path + ": " + problem.message());
  if (files.empty()) return fail(Code::kInvalid, path + ": holds no .toml file");
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<std::vector<tuner::PipelineModel>> load_pipelines(const std::vector<std::string>& paths) {
  std::vector<tuner::PipelineModel> pipelines;
  std::map<std::string, std::string> file_of;
  for (const std::string& path : paths) {
    auto files = files_of(path);
    if (!files) return pass(files);
    for (const std::string& file : *files) {
      auto model = load_pipeline(file);
      if (!model) return pass(model);
      const auto [other, added] = file_of.emplace(model->name, file);
      if (!added) {
        return fail(Code::kInvalid, file + " and " + other->second + ": both are called '" +
                                        model->name + "'; change `name` in one of them");
      }
      pipelines.push_back(std::move(*model));
    }
  }
  return pipelines;
}

std::vector<std::string> pipeline_files(const std::vector<std::string>& paths) {
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    const auto files = files_of(path);
    if (files) found.insert(found.end(), files->begin(), files->end());
  }
  return found;
}

Result<std::vector<std::string>> split_policies(std::string_view text) {
  std::vector<std::string> names;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string name(text.substr(0, comma));
    if (name.empty()) {
      return fail(Code::kInvalid, "--policies: a name is empty; write them as in greedy,max");
    }
    if (std::ranges::find(names, name) != names.end()) {
      return fail(Code::kInvalid, "--policies: " + name + " is named twice");
    }
    names.push_back(name);
    if (comma == std::string_view::npos) return names;
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::string> usual_policies() {
  std::vector<std::string> names;
  for (const tuner::PolicyInfo& info : tuner::policies()) {
    if (info.name != "static" && info.name != "one" && info.name != "oracle") {
      names.emplace_back(info.name);
    }
  }
  return names;
}

tuner::MachineMaker emulated_machines(const Clock& clock, const std::atomic<bool>& stop) {
  return [&clock, &stop](const tuner::PipelineModel& model, std::uint64_t seed) {
    return std::make_unique<tuner::EmulatedMachine>(model, seed, clock,
                                                    [&stop] { return stop.load(); });
  };
}

}  // namespace forebay
