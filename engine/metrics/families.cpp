#include "engine/metrics/families.h"

namespace forebay {
namespace {

void add_states(const scheduler::ClusterStatus& cluster, Families& to) {
  using State = scheduler::NodeStatus::State;
  MetricFamily nodes{"forebay_nodes", "Members of the cluster.", {}};
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
          {{{{"version", FOREBAY_VERSION}, {"command", command}}, 1}}});
}

void add_memory(std::uint64_t bytes, Families& to) {
  to.add("forebay_memory_bytes", "Resident memory of the process.", bytes);
}

void add_memory_limit(std::uint64_t bytes, Families& to) {
  to.add("forebay_memory_limit_bytes", "Its limit: pipeline.memory, a worker's --memory.", bytes);
}

void add_stages(const std::vector<StageStats>& stages, Families& to) {
  const auto of_pool = [&](const char* name, const char* help, auto PoolStats::*value) {
    to.each(name, help, "stage", stages,
            [value](const StageStats& stage) { return stage.pool.*value; });
  };
  const auto of_totals = [&](const char* name, const char* help, auto ActorTotals::*value) {
    to.each(name, help, "stage", stages,
            [value](const StageStats& stage) { return stage.pool.totals.*value; });
  };
  of_pool("forebay_stage_actors", "Actors of a stage on this node.", &PoolStats::actors);
  of_totals("forebay_stage_splits_total", "Splits a stage has finished.", &ActorTotals::messages);
  of_totals("forebay_stage_bytes_total", "Bytes of those, as they came in.", &ActorTotals::bytes);
  of_totals("forebay_stage_busy_seconds_total", "Time its actors worked.", &ActorTotals::busy);
  of_totals("forebay_stage_cpu_seconds_total", "CPU time of its actors.", &ActorTotals::cpu);
  MetricFamily blocked{"forebay_stage_blocked_seconds_total",
                       "Time its actors waited: for input, or for room behind them.",
                       {}};
  for (const StageStats& stage : stages) {
    const std::string name(stage.name);
    blocked.samples.push_back(
        {{{"stage", name}, {"reason", "input"}}, in_seconds(stage.pool.totals.wait_input)});
    blocked.samples.push_back(
        {{{"stage", name}, {"reason", "output"}}, in_seconds(stage.pool.totals.wait_output)});
  }
  to.add(std::move(blocked));
  of_pool("forebay_stage_failures_total", "Splits at which an actor of it failed.",
          &PoolStats::failures);
  of_pool("forebay_queue_splits", "Splits that wait before a stage.", &PoolStats::queued_messages);
  of_pool("forebay_queue_bytes", "Bytes that wait before a stage.", &PoolStats::queued_bytes);
  of_pool("forebay_queue_capacity_bytes", "Bytes that may wait there.", &PoolStats::mailbox_bytes);
}

void add_cluster(const scheduler::ClusterStatus& cluster, Families& to) {
  using scheduler::NodeStatus;
  add_states(cluster, to);
  to.add("forebay_splits_finished_total", "Splits handed to the trainer.", cluster.finished);
  to.add("forebay_splits_waiting", "Splits issued and not leased.", cluster.waiting);
  to.add("forebay_splits_leased", "Splits that a worker has.", cluster.leased);
  to.add("forebay_splits_issued_again_total", "Leases that ended without an arrival.",
         cluster.issued_again);
  const auto each = [&](const char* name, const char* help, auto NodeStatus::*value) {
    to.each(name, help, "node", cluster.nodes, value);
  };
  each("forebay_node_leases", "Splits that a node has.", &NodeStatus::leases);
  each("forebay_node_splits_total", "Splits that a node has made.", &NodeStatus::splits_done);
  each("forebay_node_cpus", "CPUs that a node may use.", &NodeStatus::cpus);
  each("forebay_node_busy_cpus", "CPUs that it uses.", &NodeStatus::busy_cpus);
  each("forebay_node_memory_bytes", "Memory that it uses.", &NodeStatus::memory_used);
  each("forebay_node_memory_limit_bytes", "Memory that it may use.", &NodeStatus::memory_limit);
  each("forebay_node_silent_seconds", "Time since it was last heard.", &NodeStatus::silent_seconds);
}

}  // namespace forebay
