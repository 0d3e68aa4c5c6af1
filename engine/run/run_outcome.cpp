#include "engine/run/run_outcome.h"

#include "core/base/whole_file.h"

namespace forebay {
namespace {

JsonObject rows_by_node(const RunOutcome& outcome) {
  JsonObject json;
  if (outcome.rows_by_node.empty()) return json.add("local", outcome.rows);
  for (const auto& [node, rows] : outcome.rows_by_node) json.add(node, rows);
  return json;
}

JsonObject asked_by_node(const RunOutcome& outcome) {
  JsonObject json;
  for (const auto& [node, asked] : outcome.asked_by_node) {
    json.add(node, JsonObject().add("requests", asked.requests).add("bytes_read", asked.bytes));
  }
  return json;
}

/// Many times the size of any state.
constexpr std::size_t kMostStateBytes = 64 << 10;

}  // namespace

JsonObject to_json(const RunOutcome& outcome) {
  JsonObject json;
  json.add("rows", outcome.rows)
      .add("bad_rows", outcome.bad_rows)
      .add("rows_held_out", outcome.rows_held_out)
      .add("batches", outcome.batches)
      .add("epochs", outcome.epochs)
      .add("seconds", outcome.seconds)
      .add("rows_per_second", outcome.rows_per_second())
      .add("starved_ratio", outcome.starved_ratio)
      .add("requests", outcome.requests)
      .add("bytes_read", outcome.bytes_read)
      .add("dedup_ratio", outcome.dedup_ratio)
      .add("cpu_seconds", outcome.cpu_seconds)
      .add("energy", to_json(outcome.energy))
      .add("order_digest", outcome.order_digest)
      .add("peak_memory_bytes", outcome.peak_memory_bytes)
      .add("allocation", outcome.allocation)
      .add("fused", outcome.fused)
      .add("plan", outcome.plan)
      .add("prefetch", outcome.prefetch)
      .add("decisions", outcome.decisions)
      .add("tuner_cpu_seconds", outcome.tuner_cpu_seconds)
      .add("rows_by_node", rows_by_node(outcome))
      .add("quarantine", outcome.quarantine);
  if (outcome.prices.any()) json.add("money", to_json(money_of(outcome), outcome.rows));
  if (!outcome.asked_by_node.empty()) json.add("requests_by_node", asked_by_node(outcome));
  if (outcome.strata > 0) json.add("strata", outcome.strata);
  if (!outcome.address.empty()) json.add("address", outcome.address);
  return json;
}

RunMoney money_of(const RunOutcome& outcome) {
  return money_of({.seconds = outcome.seconds,
                   .cpus = static_cast<double>(outcome.cpus),
                   .bytes = outcome.bytes_read,
                   .requests = outcome.requests},
                  outcome.prices);
}

Result<LoaderState> read_state_file(const std::string& path) {
  const std::string where = "--resume " + path;
  auto text = read_whole(path, kMostStateBytes);
  if (text) return parse_loader_state(*text, where);
  return fail(text.error().code, "--resume " + text.error().message);
}

Status write_state_file(const std::string& path, const LoaderState& state) {
  auto written = replace_whole(path, to_json(state), Sync::kYes);
  if (!written) return fail(written.error().code, "--state " + written.error().message);
  return {};
}

}  // namespace forebay
