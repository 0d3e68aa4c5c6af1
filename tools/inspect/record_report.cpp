#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <vector>

#include <nlohmann/json.hpp>

#include "actors/input/file_system.h"
#include "core/base/text/counted.h"
#include "core/base/text/json_text.h"
#include "core/base/text/printable.h"
#include "core/base/text/text.h"
#include "engine/job/quantity.h"
#include "engine/run/tuning.h"
#include "tools/inspect/inspect.h"
#include "tools/inspect/text_table.h"
#include "tuner/log/decision_log.h"

namespace forebay {
namespace {

JsonObject json_of(const std::string& path, const char* kind) {
  return JsonObject().add("path", path).add("kind", kind);
}

std::string freshness(const FileIndex& index) {
  const auto file = FileSystems().of(index.path)->stat(index.path);
  if (!file) return "gone";
  return file->stamp == index.stamp ? "unchanged" : "changed";
}

using Counts = std::map<std::string, std::uint64_t>;

void show_counts(FileReport& report, const Counts& counts, const char* key, const char* what) {
  std::vector<std::pair<std::uint64_t, std::string>> order;
  for (const auto& [name, rows] : counts) order.emplace_back(rows, name);
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::vector<std::string>> table = {{"rows", what}};
  std::vector<JsonObject> list;
  for (const auto& [rows, name] : order) {
    table.push_back({format_count(rows), printable(name, kMostShown)});
    list.push_back(JsonObject().add(what, name).add("rows", rows));
  }
  for (std::string& line : align_columns(table)) report.lines.push_back("  " + std::move(line));
  report.json.add(key, list);
}

/// Shows a table of keys and values; returns the same as an object.
template <class Settings>
JsonObject show_settings(FileReport& report, const Settings& settings, std::size_t most) {
  std::vector<std::vector<std::string>> table;
  JsonObject json;
  for (const auto& [key, value] : settings) {
    table.push_back({printable(key, most), printable(value, most)});
    json.add(key, value);
  }
  for (std::string& line : align_columns(table)) report.lines.push_back("  " + std::move(line));
  return json;
}

std::string list_of(const std::vector<std::string>& words) {
  return words.empty() ? "-" : joined(words, ", ");
}

}  // namespace

std::string kind_of_damage(const std::string& reason) {
  const std::size_t first = reason.find('"');
  const std::size_t last = reason.rfind('"');
  if (first == std::string::npos || first == last) return reason;
  return reason.substr(0, first) + "\"…\"" + reason.substr(last + 1);
}

FileReport report_state(const std::string& path, const LoaderState& state) {
  const Position& at = state.position;
  FileReport report{.title = "loader state after " + format_count(at.batches) + " batches, " +
                             format_count(at.rows) + " rows",
                    .json = json_of(path, "state")};
  report.lines.push_back(
      "epoch " + std::to_string(at.epoch) + ", split " + std::to_string(at.first_split()) +
      " from row " + std::to_string(at.split_rows) + "; " + format_count(at.bad_rows) +
      " damaged, " + format_count(at.held_out) + " held out; digest " + at.digest.hex());
  if (!at.ahead.empty()) {
    report.lines.push_back(format_count(at.ahead.size()) + " later splits given out already");
  }
  report.lines.push_back("of the dataset with fingerprint " + state.fingerprint +
                         " and a job with");
  const JsonObject identity = show_settings(report, state.identity, kMostShown);
  report.json.add("version", state.version)
      .add("batches", at.batches)
      .add("rows", at.rows)
      .add("epochs", at.epoch)
      .add("split", at.first_split())
      .add("split_rows", at.split_rows)
      .add("ahead", at.ahead.size())
      .add("bad_rows", at.bad_rows)
      .add("rows_held_out", at.held_out)
      .add("order_digest", at.digest.hex())
      .add("fingerprint", state.fingerprint)
      .add("identity", identity);
  return report;
}

FileReport report_index(const std::string& path, const FileIndex& index) {
  const std::string now = freshness(index);
  FileReport report{.title = "index of " + printable(index.path, 4096) + ": " +
                             format_count(index.rows) + " rows in " +
                             format_count(index.num_blocks()) + " blocks",
                    .json = json_of(path, "index")};
  report.lines.push_back(format_size(index.bytes) + " of content, digest " + index.content.hex() +
                         ", " + format_count(index.points.size()) + " restart points");
  report.lines.push_back(now == "unchanged" ? "the file is as it was when it was indexed"
                                            : "the file is " + now +
                                                  " since; it is indexed anew "
                                                  "when it is used");
  report.json.add("of", index.path)
      .add("file", now)
      .add("rows", index.rows)
      .add("blocks", index.num_blocks())
      .add("bytes", index.bytes)
      .add("restart_points", index.points.size())
      .add("content", index.content.hex());
  return report;
}

Result<FileReport> report_manifest(const std::string& path, const std::string& text) {
  const auto json = parse_json(text);
  const auto bad = [&] { return fail(Code::kInvalid, path + ": not the manifest of a dataset"); };
  if (!json.is_object() || !json.contains("files") || !json["files"].is_array()) return bad();
  if (!json.contains("fingerprint") || !json["fingerprint"].is_string()) return bad();
  std::vector<std::vector<std::string>> table = {{"bytes", "file"}};
  std::vector<JsonObject> files;
  std::uint64_t bytes = 0;
  for (const auto& file : json["files"]) {
    if (!file.is_object() || !file.contains("name") || !file["name"].is_string()) return bad();
    if (!file.contains("bytes") || !file["bytes"].is_number_unsigned()) return bad();
    const auto name = file["name"].get<std::string>();
    const auto size = file["bytes"].get<std::uint64_t>();
    bytes += size;
    table.push_back({format_count(size), printable(name, kMostShown)});
    files.push_back(JsonObject().add("name", name).add("bytes", size));
  }
  const auto fingerprint = json["fingerprint"].get<std::string>();
  FileReport report{.title = "manifest of a dataset: " + format_counted(files.size(), "file") +
                             ", " + format_size(bytes),
                    .lines = {"fingerprint " + printable(fingerprint, kMostShown)},
                    .json = json_of(path, "dataset")};
  for (std::string& line : align_columns(table)) report.lines.push_back("  " + std::move(line));
  report.json.add("fingerprint", fingerprint).add("bytes", bytes).add("files", files);
  return report;
}

Result<FileReport> report_quarantine(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Code::kNotFound, path + ": " + std::strerror(errno));
  std::string line;
  std::getline(file, line);
  Counts reasons;
  Counts files;
  std::uint64_t rows = 0;
  while (std::getline(file, line)) {
    std::vector<std::string> fields;
    for (std::size_t at = 0; fields.size() < 4 && at <= line.size();) {
      const std::size_t end = std::min(line.find('\t', at), line.size());
      fields.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    if (fields.size() < 4) continue;
    ++rows;
    ++files[fields[0]];
    ++reasons[kind_of_damage(fields[3])];
  }
  FileReport report{.title = "quarantine of " + format_counted(rows, "damaged row"),
                    .json = json_of(path, "quarantine")};
  report.json.add("rows", rows);
  show_counts(report, reasons, "reasons", "reason");
  show_counts(report, files, "files", "file");
  return report;
}

FileReport report_job(const std::string& path, const JobSpec& job) {
  std::vector<std::string> ops;
  for (const TransformSpec& transform : job.transforms) ops.push_back(transform.op);
  const std::string cpus = std::to_string(job.pipeline.cpus);
  const std::vector<std::pair<std::string, std::string>> settings = {
      {"dataset.format", job.dataset.format},
      {"dataset.paths", list_of(job.dataset.paths)},
      {"dataset.bad_rows", std::to_string(job.dataset.bad_rows)},
      {"columns.label", job.columns.label.empty() ? "-" : job.columns.label},
      {"columns.dense", list_of(job.columns.dense)},
      {"columns.sparse", list_of(job.columns.sparse)},
      {"columns.weight", job.columns.weight.empty() ? "-" : job.columns.weight},
      {"columns.extra", list_of(job.columns.extra)},
      {"order.seed", std::to_string(job.order.seed)},
      {"order.shuffle", std::string(name_in(kShuffleNames, job.order.shuffle))},
      {"order.epochs", std::to_string(job.order.epochs)},
      {"order.batch_size", std::to_string(job.order.batch_size)},
      {"transforms", list_of(ops)},
      {"pipeline.cpus", cpus},
      {"pipeline.memory", format_size(job.pipeline.memory_bytes)},
      {"trainer.model", std::string(name_in(kModelNames, job.trainer.model))},
      {"trainer.checkpoint", job.trainer.checkpoint.empty() ? "-" : job.trainer.checkpoint},
      {"trainer.evaluate", list_of(job.trainer.evaluate)},
      {"run.dir", job.run.dir},
  };
  FileReport report{.title = "job", .json = json_of(path, "job")};
  report.json.add("settings", show_settings(report, settings, 200));
  return report;
}

bool is_decision_log(std::string_view begin) {
  return begin.starts_with("{\"forebay_decisions\":");
}

Result<FileReport> report_decisions(const std::string& path) {
  auto log = tuner::read_decision_log(path);
  if (!log) return pass(log);
  const auto& decisions = log->decisions;
  const auto faults = std::ranges::count_if(
      decisions, [](const auto& decision) { return !decision.fault.empty(); });
  const tuner::Allocation& last = decisions.empty() ? log->header.start : decisions.back().applied;
  FileReport report;
  report.title = "decision log, " + format_counted(decisions.size(), "decision") + " of " +
                 log->header.policy + " in a run of " + log->header.command;
  report.lines = {"from " + describe(log->header.start, log->header.description),
                  "to " + describe(last, log->header.description),
                  format_count(static_cast<std::uint64_t>(faults)) +
                      " times the policy was not listened to; forebay tune show has all of them"};
  report.json.add("path", path)
      .add("kind", "decisions")
      .add("policy", log->header.policy)
      .add("decisions", decisions.size())
      .add("faults", faults);
  return report;
}

}  // namespace forebay
