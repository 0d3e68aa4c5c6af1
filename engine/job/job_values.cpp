#include "engine/job/job_values.h"

#include <sstream>

#include "engine/job/toml_library.h"

namespace forebay {
namespace {

constexpr const char* kWhere = "the job's values";

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::int64_t value) { return std::to_string(value); }

std::string text_of(double value) {
  std::ostringstream text;
  text << toml::value<double>(value);
  return text.str();
}

std::string text_of(const std::string& value) {
  std::ostringstream text;
  text << toml::value<std::string>(value);
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
    text += key_text(name) + " = ";
    text += std::visit([](const auto& held) { return text_of(held); }, value) + '\n';
  }
}

JobDocument::Values placed(const JobValues::Table& table, const std::string& where) {
  JobDocument::Values values;
  for (const auto& [name, value] : table) values[name] = {.value = value, .where = where};
  return values;
}

}  // namespace

std::string to_toml(const JobValues& job) {
  std::string text;
  add(text, job.values);
  for (const JobValues::Table& transform : job.transforms) {
    text += "\n[[transform]]\n";
    add(text, transform);
  }
  return text;
}

Result<JobSpec> read_values(const JobValues& job, const std::vector<std::string>& sets,
                            const JobDefaults& defaults) {
  JobDocument document;
  document.values = placed(job.values, kWhere);
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
