#include "engine/metrics/families.h"

#include "core/base/seconds.h"

namespace forebay {
namespace {

using Kind = MetricFamily::Kind;

void add_states(const scheduler::ClusterStatus& cluster, Families& to) {
  using State = scheduler::NodeStatus::State;
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

}  // namespace

void add_build(const std::string& command, Families& to) {
  to.add({"forebay_build_info",
          "The version that runs.",
          Kind::kGauge,
          {{{{"version", FOREBAY_VERSION}, {"command", command}}, 1}}});
}

void add_memory(std::uint64_t bytes, Families& to) {
  to.gauge("forebay_memory_bytes", "Resident memory of the process.", number(bytes));
}

void add_memory_limit(std::uint64_t bytes, Families& to) {
  to.gauge("forebay_memory_limit_bytes", "Its limit: pipeline.memory, a worker's --memory.",
           number(bytes));
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
       [](const PoolStats& pool) { return in_seconds(pool.totals.busy); });
  each("forebay_stage_cpu_seconds_total", "CPU time of its actors.", Kind::kCounter,
       [](const PoolStats& pool) { return in_seconds(pool.totals.cpu); });
  MetricFamily blocked{"forebay_stage_blocked_seconds_total",
                       "Time its actors waited: for input, or for room behind them.",
                       Kind::kCounter,
                       {}};
  for (const StageStats& stage : stages) {
    const std::string name(stage.name);
    blocked.samples.push_back(
        {{{"stage", name}, {"reason", "input"}}, in_seconds(stage.pool.totals.wait_input)});
    blocked.samples.push_back(
        {{{"stage", name}, {"reason", "output"}}, in_seconds(stage.pool.totals.wait_output)});
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

void add_cluster(const scheduler::ClusterStatus& cluster, Families& to) {
  using scheduler::NodeStatus;
  add_states(cluster, to);
  to.counter("forebay_splits_finished_total", "Splits handed to the trainer.",
             number(cluster.finished));
  to.gauge("forebay_splits_waiting", "Splits issued and not leased.", number(cluster.waiting));
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

}  // namespace forebay
