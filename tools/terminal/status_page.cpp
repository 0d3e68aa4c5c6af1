#include "tools/terminal/status_page.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/text/counted.h"
#include "core/base/text/printable.h"
#include "engine/job/quantity.h"
#include "tools/inspect/text_table.h"

namespace forebay {
namespace {

using Json = nlohmann::json;
using Row = std::vector<std::string>;

constexpr std::size_t kMostShown = 80;
constexpr std::size_t kMostActorRows = 30;

double number(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

std::uint64_t count(const Json& json, const char* key) {
  return static_cast<std::uint64_t>(std::clamp(number(json, key), 0.0, 1e18));
}

std::string counted(const Json& json, const char* key) { return format_count(count(json, key)); }

/// Returns `1 row`, `1,200 rows`.
std::string counted(const Json& json, const char* key, std::string_view one,
                    std::string_view many = {}) {
  return format_counted(count(json, key), one, many);
}

/// Returns `2 GiB of 4 GiB`.
std::string of_limit(const Json& json, const char* used, const char* limit) {
  return format_size(count(json, used)) + " of " + format_size(count(json, limit));
}

std::string text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string()
             ? printable(found->get_ref<const std::string&>(), kMostShown)
             : "";
}

const Json& list(const Json& json, const char* key) {
  static const Json none = Json::array();
  const auto found = json.find(key);
  return found != json.end() && found->is_array() ? *found : none;
}

/// Returns item `i` of an earlier answer, or an empty object if it has no such item.
const Json& item(const Json& before, const char* key, std::size_t i) {
  static const Json none = Json::object();
  const Json& items = list(before, key);
  return i < items.size() && items[i].is_object() ? items[i] : none;
}

std::string percent(double part, double whole) {
  return whole > 0 ? format_number(100 * std::clamp(part / whole, 0.0, 1.0), 0) + " %" : "-";
}

void append_table(const std::vector<Row>& rows, std::string& page) {
  for (const std::string& line : align_columns(rows)) page.append("  ").append(line).append("\n");
}

std::string run_lines(const Json& before, const Json& now) {
  const double time = number(now, "seconds") - number(before, "seconds");
  const double rows = number(now, "rows") - number(before, "rows");
  const double waited = number(now, "waited_seconds") - number(before, "waited_seconds");
  std::string page =
      text(now, "command") + ", " + format_number(number(now, "seconds"), 0) + " s: ";
  page += counted(now, "rows", "row") + ", " + counted(now, "batches", "batch", "batches") + ", ";
  page += format_count(static_cast<std::uint64_t>(time > 0 ? std::max(rows / time, 0.0) : 0)) +
          " rows/s; the trainer waited " + percent(waited, time) + " of the time\n";
  page += "memory " + of_limit(now, "memory_bytes", "memory_limit_bytes") + "; ready " +
          of_limit(now, "prefetch_bytes", "prefetch_capacity_bytes") + " in " +
          counted(now, "prefetch_batches", "batch", "batches") + "; on their way " +
          of_limit(now, "window_bytes", "window_capacity_bytes") + "\n";
  if (const std::string last = text(now, "last_decision"); !last.empty()) {
    page += "tuner: " + counted(now, "decisions", "decision") + "; " + last + "\n";
  }
  return page;
}

void append_stages(const Json& before, const Json& now, std::string& page) {
  std::vector<Row> rows = {{"stage", "actors", "busy", "no input", "no room", "queue"}};
  const Json& stages = list(now, "stages");
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Json& stage = stages[i];
    if (!stage.is_object()) continue;
    const Json& then = item(before, "stages", i);
    const auto since = [&](const char* key) { return number(stage, key) - number(then, key); };
    const double busy = since("busy_seconds");
    const double input = since("wait_input_seconds");
    const double output = since("wait_output_seconds");
    const double lived = busy + input + output;
    rows.push_back({text(stage, "name"), counted(stage, "actors"), percent(busy, lived),
                    percent(input, lived), percent(output, lived),
                    counted(stage, "queued_splits", "split") + ", " +
                        format_size(count(stage, "queued_bytes"))});
  }
  append_table(rows, page);
}

std::string head_line(const Json& now) {
  const std::string job = text(now, "job");
  if (job.empty()) return "no job is open\n";
  return "job " + job + ", epoch " + counted(now, "epoch") + ": " +
         format_number(number(now, "splits_per_second"), 1) + " splits/s\n";
}

void append_cluster(const Json& now, std::string& page) {
  if (!now.contains("nodes")) return;
  page += "splits: " + counted(now, "splits_finished") + " of " + counted(now, "splits") +
          " done, " + counted(now, "splits_leased") + " leased, " + counted(now, "splits_waiting") +
          " waiting, " + counted(now, "splits_issued_again") + " issued again\n";
  std::vector<Row> rows = {
      {"node", "state", "leases", "splits", "splits/s", "CPUs", "memory", "heard"}};
  for (const Json& node : list(now, "nodes")) {
    if (!node.is_object()) continue;
    const std::string trouble = text(node, "trouble");
    rows.push_back({text(node, "name"),
                    text(node, "state") + (trouble.empty() ? "" : ": " + trouble),
                    counted(node, "leases"), counted(node, "splits"),
                    format_number(number(node, "splits_per_second"), 1),
                    format_number(number(node, "busy_cpus"), 1) + " of " +
                        format_number(number(node, "cpus"), 0),
                    of_limit(node, "memory_bytes", "memory_limit_bytes"),
                    format_number(number(node, "silent_seconds"), 1) + " s ago"});
  }
  append_table(rows, page);
  for (const Json& problem : list(now, "problems")) {
    if (!problem.is_string()) continue;
    page.append("problem: ").append(printable(problem.get_ref<const std::string&>(), 200));
    page.append("\n");
  }
}

void append_actors(const Json& now, std::string& page) {
  if (count(now, "num_actors") == 0) return;
  page += counted(now, "num_actors", "actor") + " on " + counted(now, "actor_nodes", "node") + "\n";
  std::vector<Row> rows = {
      {"actor", "type", "node", "state", "busy", "waiting", "restarts", "crashes"}};
  for (const Json& actor : list(now, "actors")) {
    if (!actor.is_object()) continue;
    if (rows.size() > kMostActorRows) break;
    rows.push_back({text(actor, "name"), text(actor, "type"), text(actor, "node"),
                    text(actor, "state"), format_number(100 * number(actor, "busy"), 0) + " %",
                    format_size(count(actor, "waiting_bytes")), counted(actor, "restarts"),
                    counted(actor, "crashes")});
  }
  append_table(rows, page);
}

}  // namespace

Result<std::string> status_page(std::string_view before, std::string_view now) {
  const Json answer = Json::parse(now, nullptr, false);
  const bool of_run = answer.is_object() && answer.contains("command");
  if (!of_run && !(answer.is_object() && answer.contains("nodes"))) {
    return fail(Code::kCorrupt, "the job's answer is not understood; is it of another version?");
  }
  Json then = Json::parse(before, nullptr, false);
  if (!then.is_object()) then = Json::object();
  std::string page = of_run ? run_lines(then, answer) : head_line(answer);
  if (of_run) append_stages(then, answer, page);
  append_cluster(answer, page);
  if (!of_run) append_actors(answer, page);
  return page;
}

}  // namespace forebay
