#include "engine/metrics/figures.h"

#include <functional>
#include <type_traits>
#include <utility>

#include "core/base/clock.h"

namespace forebay {
namespace {

/// Collects metric families in order.
class Families {
 public:
  void add(MetricFamily family) { list_.push_back(std::move(family)); }

  /// Adds a family of one value, a number or a time.
  void add(const char* name, const char* help, auto value) {
    add({name, help, {{{}, number(value)}}});
  }

  /// Adds one sample for each item of `list`: the value that `value_of` has of it, with the item's
  /// name as the label `label`.
  template <class List, class ValueOf>
  void each(const char* name, const char* help, const char* label, const List& list,
            ValueOf value_of) {
    MetricFamily family{name, help, {}};
    for (const auto& item : list) {
      const double value = number(std::invoke(value_of, item));
      family.samples.push_back({{{label, std::string(item.name)}}, value});
    }
    add(std::move(family));
  }

  std::vector<MetricFamily> take() { return std::move(list_); }

 private:
  /// Converts to base units and doubles, as metrics need them.
  static double number(auto value) {
    if constexpr (std::is_arithmetic_v<decltype(value)>) {
      return static_cast<double>(value);
    } else {
      return in_seconds(value);
    }
  }

  std::vector<MetricFamily> list_;
};

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

// Metrics common to several kinds of processes. Equal meanings have equal names.

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

void add_splits_and_nodes(const scheduler::ClusterStatus& cluster, Families& to) {
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
  const auto of_use = [&](const char* name, const char* help, auto scheduler::JobUse::*value) {
    to.each(name, help, "node", cluster.nodes,
            [value](const NodeStatus& node) { return node.use.*value; });
  };
  of_use("forebay_node_requests_total", "Requests of a worker to files and stores, for the job.",
         &scheduler::JobUse::requests);
  of_use("forebay_node_read_bytes_total", "What they brought.", &scheduler::JobUse::bytes);
  of_use("forebay_node_energy_joules_total", "Energy of a worker for the job, as it reports it.",
         &scheduler::JobUse::joules);
  each("forebay_node_silent_seconds", "Time since it was last heard.", &NodeStatus::silent_seconds);
}

void add_trainer(const RunFigures& run, Families& to) {
  add_build(run.command, to);
  to.add("forebay_rows_total", "Rows given to the trainer.", run.rows);
  to.add("forebay_batches_total", "Batches given to the trainer.", run.batches);
  to.add("forebay_trainer_steps_total", "Batches the trainer is done with.", run.steps);
  to.add("forebay_trainer_wait_seconds_total", "Time the trainer waited for a batch.", run.waited);
  to.add("forebay_trainer_busy_seconds_total", "Time the trainer had a batch in hand.", run.worked);
  to.add("forebay_requests_total", "Requests of this process to files and stores.", run.requests);
  to.add("forebay_read_bytes_total", "What they brought.", run.bytes_read);
  to.add("forebay_bad_rows_total", "Damaged rows that were left out.", run.bad_rows);
  to.add("forebay_cpu_seconds_total", "CPU time of this process since the start of the run.",
         run.cpu_seconds);
  to.add("forebay_cpus", "CPUs that the run may use.", run.cpus);
  to.add("forebay_energy_joules_total", "Energy of the run with its workers, counted or estimated.",
         run.energy.joules());
  add_memory(run.memory_bytes, to);
  add_memory_limit(run.memory_limit, to);
  to.add("forebay_tuner_decisions_total", "Decisions the tuner took.", run.decisions);
  to.add("forebay_tuner_cpu_seconds_total", "CPU time of the tuner.", run.tuner_cpu_seconds);
}

void add_pipeline(const PipelineStats& stats, Families& to) {
  to.add("forebay_prefetch_batches", "Batches ready for the trainer.", stats.prefetch_batches);
  to.add("forebay_prefetch_bytes", "Bytes of those.", stats.prefetch_bytes);
  to.add("forebay_prefetch_capacity_bytes", "Bytes that may be ready.", stats.prefetch_budget);
  to.add("forebay_prefetch_full_total", "How often a batch found no room there.",
         stats.prefetch_full);
  to.add("forebay_prefetch_empty_total", "How often the trainer found no batch there.",
         stats.prefetch_empty);
  to.add("forebay_window_bytes", "Bytes of splits on their way.", stats.window_bytes);
  to.add("forebay_window_capacity_bytes", "Bytes that may be on their way.", stats.window_capacity);
  to.add("forebay_splits_issued_total", "Splits issued to the stages or to workers.",
         stats.splits_issued);
}

}  // namespace

std::vector<MetricFamily> metrics_of(const RunFigures& figures) {
  Families families;
  add_trainer(figures, families);
  add_stages(figures.pipeline.stages, families);
  add_pipeline(figures.pipeline, families);
  if (figures.cluster) add_splits_and_nodes(*figures.cluster, families);
  return families.take();
}

std::vector<MetricFamily> metrics_of(const HeadFigures& figures) {
  Families families;
  add_build("head", families);
  add_memory(figures.memory_bytes, families);
  if (figures.cluster) add_splits_and_nodes(*figures.cluster, families);
  return families.take();
}

std::vector<MetricFamily> metrics_of(const WorkerFigures& now) {
  Families to;
  add_build("worker", to);
  add_memory(now.memory_bytes, to);
  add_memory_limit(now.memory_limit, to);
  to.add("forebay_worker_joined", "1 while a head counts this worker in.", now.joined ? 1 : 0);
  to.add("forebay_worker_splits_in_work", "Splits leased to it and not made yet.", now.making);
  to.add("forebay_worker_splits_ready", "Splits made and not handed over yet.", now.ready);
  to.add("forebay_worker_splits_total", "Splits handed over.", now.done);
  to.add("forebay_worker_plain_bytes_total", "Bytes of its splits' columns.", now.plain_bytes);
  to.add("forebay_worker_packed_bytes_total", "Bytes of those as they are sent.", now.packed_bytes);
  if (!now.stages.empty()) add_stages(now.stages, to);
  return to.take();
}

}  // namespace forebay
