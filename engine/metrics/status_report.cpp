#include "engine/metrics/status_report.h"

#include <vector>

#include "core/base/clock.h"
#include "engine/report/run_costs.h"

namespace forebay {
namespace {

JsonObject json_of(const StageStats& stage) {
  const ActorTotals& totals = stage.pool.totals;
  return JsonObject()
      .add("name", std::string(stage.name))
      .add("actors", stage.pool.actors)
      .add("splits", totals.messages)
      .add("busy_seconds", in_seconds(totals.busy))
      .add("wait_input_seconds", in_seconds(totals.wait_input))
      .add("wait_output_seconds", in_seconds(totals.wait_output))
      .add("queued_splits", stage.pool.queued_messages)
      .add("queued_bytes", stage.pool.queued_bytes)
      .add("queue_capacity_bytes", stage.pool.mailbox_bytes)
      .add("bytes", totals.bytes)
      .add("cpu_seconds", in_seconds(totals.cpu))
      .add("failures", stage.pool.failures);
}

const char* word_of(scheduler::NodeStatus::State state) {
  using State = scheduler::NodeStatus::State;
  if (state == State::kRefused) return "refused";
  return state == State::kPrepared ? "working" : "joined";
}

JsonObject json_of(const scheduler::NodeStatus& node) {
  return JsonObject()
      .add("name", node.name)
      .add("host", node.host)
      .add("pid", node.pid)
      .add("state", word_of(node.state))
      .add("trouble", node.trouble)
      .add("leases", node.leases)
      .add("capacity", node.capacity)
      .add("splits", node.splits_done)
      .add("splits_per_second", node.rate)
      .add("could_make_per_second", node.could_make)
      .add("busy", node.busy)
      .add("cpus", node.cpus)
      .add("busy_cpus", node.busy_cpus)
      .add("memory_bytes", node.memory_used)
      .add("memory_limit_bytes", node.memory_limit)
      .add("requests", node.use.requests)
      .add("bytes_read", node.use.bytes)
      .add("joules", node.use.joules)
      .add("joules_counted", node.use.counted)
      .add("silent_seconds", node.silent_seconds);
}

JsonObject json_of(const Learning::Table& table) {
  return JsonObject()
      .add("name", table.name)
      .add("rows", table.rows)
      .add("row_bytes", table.row_bytes)
      .add("rows_in_memory", table.in_memory)
      .add("rows_on_disk", table.on_disk)
      .add("lookups", table.lookups)
      .add("lookups_found", table.found);
}

void add_cluster(const scheduler::ClusterStatus& cluster, JsonObject& json) {
  json.add("splits", cluster.splits)
      .add("splits_finished", cluster.finished)
      .add("splits_waiting", cluster.waiting)
      .add("splits_leased", cluster.leased)
      .add("splits_issued_again", cluster.issued_again)
      .add("nodes", cluster.nodes, [](const scheduler::NodeStatus& node) { return json_of(node); })
      .add("problems", cluster.problems);
}

}  // namespace

JsonObject allocation_of(const PipelineStats& stats) {
  JsonObject json;
  for (std::size_t i = 0; i < stats.actors_wanted.size(); ++i) {
    json.add(stats.stages[i].name, stats.actors_wanted[i]);
  }
  return json;
}

JsonObject learning_json(const Learning& learning) {
  JsonObject json;
  json.add("step", learning.step);
  if (learning.loss) json.add("loss", *learning.loss);
  if (learning.lookups > 0) {
    json.add("lookups", learning.lookups).add("lookups_ready", learning.lookups_ready);
  }
  if (!learning.tables.empty()) {
    json.add("tables", learning.tables,
             [](const Learning::Table& table) { return json_of(table); });
  }
  return json.add("evaluations", learning.evaluations, [](const Learning::Evaluation& each) {
    JsonObject one;
    one.add("step", each.step);
    if (each.auc) one.add("auc", *each.auc);
    if (each.log_loss) one.add("log_loss", *each.log_loss);
    return one;
  });
}

JsonObject status_of(const RunFigures& figures) {
  JsonObject json;
  json.add("command", figures.command)
      .add("seconds", in_seconds(figures.elapsed))
      .add("rows", figures.rows)
      .add("batches", figures.batches)
      .add("waited_seconds", in_seconds(figures.waited))
      .add("worked_seconds", in_seconds(figures.worked))
      .add("cpus", figures.cpus)
      .add("cpu_seconds", figures.cpu_seconds)
      .add("bad_rows", figures.bad_rows)
      .add("bad_rows_allowed", figures.bad_rows_allowed)
      .add("memory_bytes", figures.memory_bytes)
      .add("memory_limit_bytes", figures.memory_limit)
      .add("memory_before_bytes", figures.memory_before)
      .add("buffer_bytes", figures.buffer_bytes)
      .add("requests", figures.requests)
      .add("bytes_read", figures.bytes_read)
      .add("energy", to_json(figures.energy))
      .add("decisions", figures.decisions)
      .add("last_decision", figures.last_decision)
      .add("prefetch_batches", figures.pipeline.prefetch_batches)
      .add("prefetch_bytes", figures.pipeline.prefetch_bytes)
      .add("prefetch_capacity_bytes", figures.pipeline.prefetch_budget)
      .add("window_bytes", figures.pipeline.window_bytes)
      .add("window_capacity_bytes", figures.pipeline.window_capacity)
      .add("splits_issued", figures.pipeline.splits_issued)
      .add("lowest_missing", figures.pipeline.lowest_missing)
      .add("allocation", allocation_of(figures.pipeline))
      .add("fused", figures.pipeline.fused)
      .add("stages", figures.pipeline.stages,
           [](const StageStats& stage) { return json_of(stage); });
  if (figures.learning.step > 0) json.add("learning", learning_json(figures.learning));
  if (!figures.table_storage.empty()) {
    json.add("tables", JsonObject()
                           .add("storage", figures.table_storage)
                           .add("memory_bytes", figures.table_memory));
  }
  if (!figures.verdict.empty()) {
    json.add("verdict", JsonObject()
                            .add("limit", figures.limit)
                            .add("sentence", figures.verdict)
                            .add("gain", figures.gain));
  }
  if (figures.cluster) add_cluster(*figures.cluster, json);
  return json;
}

JsonObject status_of(const scheduler::ClusterStatus& cluster) {
  JsonObject json;
  json.add("job", cluster.job)
      .add("epoch", cluster.epoch)
      .add("splits_per_second", cluster.rate)
      .add("prepared", cluster.prepared);
  add_cluster(cluster, json);
  return json;
}

}  // namespace forebay
