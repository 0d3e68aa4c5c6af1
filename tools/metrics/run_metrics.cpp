#include <functional>
#include <utility>

#include "tools/metrics/run_figures.h"

namespace forebay {
namespace {

using Kind = MetricFamily::Kind;
using Labels = std::vector<std::pair<std::string, std::string>>;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

double number(std::uint64_t count) { return static_cast<double>(count); }

/// Families one after the other.
class Families {
 public:
  void counter(const char* name, const char* help, double value) {
    one(name, help, Kind::kCounter, value);
  }
  void gauge(const char* name, const char* help, double value) {
    one(name, help, Kind::kGauge, value);
  }

  /// A sample per item of `list`, `label`led by what `name_of` says.
  template <class List, class NameOf, class ValueOf>
  void each(MetricFamily family, const char* label, const List& list, NameOf name_of,
            ValueOf value_of) {
    family.samples.reserve(list.size());
    for (const auto& item : list) {
      family.samples.push_back({{{label, name_of(item)}}, value_of(item)});
    }
    list_.push_back(std::move(family));
  }

  void add(MetricFamily family) { list_.push_back(std::move(family)); }
  std::vector<MetricFamily> take() { return std::move(list_); }

 private:
  void one(const char* name, const char* help, Kind kind, double value) {
    list_.push_back({name, help, kind, {{{}, value}}});
  }

  std::vector<MetricFamily> list_;
};

void add_trainer(const RunFigures& run, Families& to) {
  to.add({"forebay_build_info",
          "The version that runs.",
          Kind::kGauge,
          {{{{"version", FOREBAY_VERSION}, {"command", run.command}}, 1}}});
  to.counter("forebay_rows_total", "Rows given to the trainer.", number(run.rows));
  to.counter("forebay_batches_total", "Batches given to the trainer.", number(run.batches));
  to.counter("forebay_trainer_steps_total", "Batches the trainer is done with.", number(run.steps));
  to.counter("forebay_trainer_wait_seconds_total", "Time the trainer waited for a batch.",
             seconds(run.waited));
  to.counter("forebay_trainer_busy_seconds_total", "Time the trainer had a batch in hand.",
             seconds(run.worked));
  to.gauge("forebay_memory_bytes", "Resident memory of the process.", number(run.memory_bytes));
  to.gauge("forebay_memory_limit_bytes", "The job's limit, pipeline.memory.",
           number(run.memory_limit));
  to.counter("forebay_tuner_decisions_total", "Decisions the tuner took.", number(run.decisions));
  to.counter("forebay_tuner_cpu_seconds_total", "CPU time of the tuner.", run.tuner_cpu_seconds);
}

void add_stages(const std::vector<StageStats>& stages, Families& to) {
  const auto each = [&](const char* name, const char* help, Kind kind, auto value_of) {
    to.each(
        {name, help, kind, {}}, "stage", stages,
        [](const StageStats& stage) { return std::string(stage.name); },
        [&](const StageStats& stage) { return value_of(stage.pool); });
  };
  each("forebay_stage_actors", "Actors of a stage on this node.", Kind::kGauge,
       [](const PoolStats& pool) { return number(pool.actors); });
  each("forebay_stage_splits_total", "Splits a stage has finished.", Kind::kCounter,
       [](const PoolStats& pool) { return number(pool.totals.messages); });
  each("forebay_stage_bytes_total", "Bytes of those, as they came in.", Kind::kCounter,
       [](const PoolStats& pool) { return number(pool.totals.bytes); });
  each("forebay_stage_busy_seconds_total", "Time its actors worked.", Kind::kCounter,
       [](const PoolStats& pool) { return seconds(pool.totals.busy); });
  each("forebay_stage_cpu_seconds_total", "CPU time of its actors.", Kind::kCounter,
       [](const PoolStats& pool) { return seconds(pool.totals.cpu); });
  MetricFamily blocked{"forebay_stage_blocked_seconds_total",
                       "Time its actors waited: for input, or for room behind them.",
                       Kind::kCounter,
                       {}};
  for (const StageStats& stage : stages) {
    const std::string name(stage.name);
    blocked.samples.push_back(
        {{{"stage", name}, {"reason", "input"}}, seconds(stage.pool.totals.wait_input)});
    blocked.samples.push_back(
        {{{"stage", name}, {"reason", "output"}}, seconds(stage.pool.totals.wait_output)});
  }
  to.add(std::move(blocked));
  each("forebay_stage_failures_total", "Splits at which an actor of it failed.", Kind::kCounter,
       [](const PoolStats& pool) { return number(pool.failures); });
  each("forebay_queue_splits", "Splits that wait before a stage.", Kind::kGauge,
       [](const PoolStats& pool) { return number(pool.queued_messages); });
  each("forebay_queue_bytes", "Bytes that wait before a stage.", Kind::kGauge,
       [](const PoolStats& pool) { return number(pool.queued_bytes); });
  each("forebay_queue_capacity_bytes", "Bytes that may wait there.", Kind::kGauge,
       [](const PoolStats& pool) { return number(pool.mailbox_bytes); });
}

void add_pipeline(const PipelineStats& stats, Families& to) {
  to.gauge("forebay_prefetch_batches", "Batches ready for the trainer.",
           number(stats.prefetch_batches));
  to.gauge("forebay_prefetch_bytes", "Bytes of those.", number(stats.prefetch_bytes));
  to.gauge("forebay_prefetch_capacity_bytes", "Bytes that may be ready.",
           number(stats.prefetch_budget));
  to.counter("forebay_prefetch_full_total", "How often a batch found no room there.",
             number(stats.prefetch_full));
  to.counter("forebay_prefetch_empty_total", "How often the trainer found no batch there.",
             number(stats.prefetch_empty));
  to.gauge("forebay_window_bytes", "Bytes of splits on their way.", number(stats.window_bytes));
  to.gauge("forebay_window_capacity_bytes", "Bytes that may be on their way.",
           number(stats.window_capacity));
  to.counter("forebay_splits_issued_total", "Splits issued to the stages or to workers.",
             number(stats.splits_issued));
}

void add_states(const scheduler::ClusterStatus& cluster, Families& to) {
  using State = scheduler::NodeView::State;
  MetricFamily nodes{"forebay_nodes", "Members of the cluster.", Kind::kGauge, {}};
  for (const auto& [state, name] : {std::pair{State::kJoined, "joined"},
                                    {State::kPrepared, "prepared"},
                                    {State::kRefused, "refused"}}) {
    double count = 0;
    for (const scheduler::NodeStatus& node : cluster.nodes) count += node.state == state ? 1 : 0;
    nodes.samples.push_back({{{"state", name}}, count});
  }
  to.add(std::move(nodes));
}

void add_cluster(const scheduler::ClusterStatus& cluster, Families& to) {
  using scheduler::NodeStatus;
  add_states(cluster, to);
  to.counter("forebay_splits_finished_total", "Splits handed to the trainer.",
             number(cluster.finished));
  to.gauge("forebay_splits_waiting", "Splits issued and leased to nobody.",
           number(cluster.waiting));
  to.gauge("forebay_splits_leased", "Splits that a worker has.", number(cluster.leased));
  to.counter("forebay_splits_issued_again_total", "Leases that ended without an arrival.",
             number(cluster.issued_again));
  const auto each = [&](const char* name, const char* help, Kind kind, auto value_of) {
    to.each(
        {name, help, kind, {}}, "node", cluster.nodes,
        [](const NodeStatus& node) { return node.name; }, value_of);
  };
  each("forebay_node_leases", "Splits that a node has.", Kind::kGauge,
       [](const NodeStatus& node) { return number(node.leases); });
  each("forebay_node_splits_total", "Splits that a node has made.", Kind::kCounter,
       [](const NodeStatus& node) { return number(node.splits_done); });
  each("forebay_node_cpus", "CPUs that a node may use.", Kind::kGauge,
       [](const NodeStatus& node) { return node.cpus; });
  each("forebay_node_busy_cpus", "CPUs that it uses.", Kind::kGauge,
       [](const NodeStatus& node) { return node.busy_cpus; });
  each("forebay_node_memory_bytes", "Memory that it uses.", Kind::kGauge,
       [](const NodeStatus& node) { return number(node.memory_used); });
  each("forebay_node_memory_limit_bytes", "Memory that it may use.", Kind::kGauge,
       [](const NodeStatus& node) { return number(node.memory_limit); });
  each("forebay_node_silent_seconds", "Time since it was last heard.", Kind::kGauge,
       [](const NodeStatus& node) { return node.silent_seconds; });
}

}  // namespace

std::vector<MetricFamily> metrics_of(const RunFigures& figures) {
  Families families;
  add_trainer(figures, families);
  add_stages(figures.pipeline.stages, families);
  add_pipeline(figures.pipeline, families);
  if (figures.cluster) add_cluster(*figures.cluster, families);
  return families.take();
}

}  // namespace forebay
