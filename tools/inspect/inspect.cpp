#include "tools/inspect/inspect.h"

#include <array>
#include <bit>
#include <filesystem>

#include "actors/input/file_system.h"
#include "actors/input/local_file_system.h"
#include "actors/source/index/file_index.h"
#include "actors/source/index/index_cache.h"
#include "actors/transform/transform.h"
#include "core/base/text/printable.h"
#include "engine/job/job_document.h"
#include "engine/job/job_file.h"
#include "engine/process/machine.h"
#include "tools/inspect/text_table.h"
#include "trainer/saving/checkpoint.h"

namespace forebay {
namespace {

constexpr std::string_view kQuarantineHeader = "file\tbyte_offset\tline\treason\t";

/// Returns whether the file is an index of any version: its last 8 bytes are an offset, and the
/// magic of an index is at this offset.
bool is_index(const std::string& path) {
  auto opened = open_local_file(path);
  if (!opened) return false;
  const InputFile& file = **opened;
  std::array<char, 8> tail{};
  std::array<char, 24> head{};
  if (file.size() < head.size() + tail.size()) return false;
  const std::uint64_t end = file.size() - tail.size();
  if (!file.read(end, tail)) return false;
  const auto begin = std::bit_cast<std::uint64_t>(tail);
  if (begin > end - head.size() || !file.read(begin, head)) return false;
  const Status found = check_index_head(head);
  return found || found.error().code == Code::kInvalid;
}

Result<FileReport> inspect_index(const std::string& path) {
  auto index = read_index(path);
  if (!index) {
    return fail(index.error().code,
                index.error().message + "; remove it, it is made anew when needed");
  }
  return report_index(path, *index);
}

tl::unexpected<Error> unknown(const FileSample& sample) {
  return fail(Code::kInvalid, sample.path +
                                  ": not a data file, state, index, decision log, manifest, "
                                  "quarantine or job; it begins \"" +
                                  printable(sample.text().substr(0, 200), 40) + "\"");
}

Result<FileReport> inspect_json(const FileSample& sample) {
  if (is_decision_log(sample.text())) return report_decisions(sample.path);
  const std::string text(sample.text());
  if (auto manifest = report_manifest(sample.path, text)) return manifest;
  auto state = parse_loader_state(text, sample.path);
  if (state) return report_state(sample.path, *state);
  // Every state has a fingerprint; other JSON is no damaged one.
  if (text.find("\"fingerprint\"") == std::string::npos) return unknown(sample);
  return pass(state);
}

/// Returns whether the sample is TOML with tables, like a job file. Data files are not TOML.
bool is_job(const FileSample& sample) {
  if (sample.path.ends_with(".toml")) return true;
  const auto document = parse_toml(sample.text(), sample.path);
  return document && !document->tables.empty();
}

Result<FileReport> inspect_job(const std::string& path) {
  auto job = load_job(path, {}, {.cpus = available_cpus(), .memory_bytes = available_memory() / 2});
  if (!job) return pass(job);
  return report_job(path, *job);
}

}  // namespace

Result<FileReport> inspect_path(const std::string& named) {
  const std::string path = FileSystems().full_path(named, "");  // of an address with file://
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return report_folder(path);
  if (auto part = report_part(path)) {
    // An undamaged file of the loader's state gets a longer report below.
    if (!*part || std::filesystem::path(path).filename() != kLoaderFile) return std::move(*part);
  }
  if (is_index(path)) return inspect_index(path);
  if (auto binary = report_binary(path)) return std::move(*binary);
  auto sample = read_sample(path);
  if (!sample) return pass(sample);
  if (sample->size == 0) return fail(Code::kInvalid, path + ": is empty");
  if (sample->text().starts_with('{')) return inspect_json(*sample);
  if (sample->text().starts_with(kQuarantineHeader)) return report_quarantine(path);
  if (is_job(*sample)) return inspect_job(path);
  if (auto criteo = report_criteo(*sample)) return std::move(*criteo);
  if (auto table = report_table(*sample)) return std::move(*table);
  return unknown(*sample);
}

std::vector<std::string> op_lines() {
  std::vector<std::vector<std::string>> rows = {
      {"op", "takes", "gives", "parameters", "does", "missing values"}};
  for (const OpDescription& op : describe_ops()) {
    rows.push_back(
        {op.name, op.takes, op.gives, op.params.empty() ? "-" : op.params, op.summary, op.missing});
  }
  return align_columns(rows);
}

std::vector<JsonObject> op_objects() {
  std::vector<JsonObject> ops;
  for (const OpDescription& op : describe_ops()) {
    ops.push_back(JsonObject()
                      .add("name", op.name)
                      .add("takes", op.takes)
                      .add("gives", op.gives)
                      .add("parameters", op.params)
                      .add("summary", op.summary)
                      .add("missing", op.missing));
  }
  return ops;
}

}  // namespace forebay
