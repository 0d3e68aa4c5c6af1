// Compares the central tuner with one tuner a node on simulated worlds of many nodes.
//
//   central_scores speed                 CPU time of one decision: 64 nodes x 6 stages
//   central_scores [unequal [RUNS]]      16 unequal nodes, a link at 0.4 of its node, a file server
//   central_scores random [WORLDS]       random worlds of 3 to 16 nodes
//
// Rates are over rate_bound(), which no allocation exceeds; workers over the fewest whose bounds
// reach 0.98 of it. VERBOSE=1 prints a line a run, FIRST=SEED and ONLY=SEED choose the
// random worlds.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "tuner/cluster/cluster_planner.h"
#include "tuner/compare/comparison.h"
#include "tuner/sim/simulator.h"
#include "tuner/world/rate_bound.h"
#include "tuner/world/world_layout.h"
#include "tuner/world/world_simulator.h"

namespace forebay::tuner {
namespace {

double drawn(Random& random, double from, double to) {
  return from + (to - from) * random.uniform();
}

StageModel stage_of(const std::string& name, double seconds, double cpu) {
  StageModel stage;
  stage.name = name;
  stage.seconds = seconds;
  stage.cpu = cpu;
  stage.alpha = 0.005;
  stage.noise = 0.2;
  stage.bytes_per_actor = 8 << 20;
  stage.bytes_out = 4 << 20;
  return stage;
}

/// What kind of world; shares are of what the nodes could make together.
struct WorldKind {
  std::size_t nodes = 16;
  double demand = 0.5;
  double server = 0;  ///< 0: no file server.
  bool ordered = false;
  double thin = 0.4;  ///< Of what its node could make: the link of one node.
};

PipelineModel world_of(std::uint64_t seed, const WorldKind& kind) {
  Random random(mix64(seed, 77));
  PipelineModel model;
  model.name = "unequal-" + std::to_string(seed);
  model.base_bytes = 1 << 28;
  model.rows_per_split = 1000;
  model.queue_splits = 4;
  model.prefetch_splits = 64;
  const char* const names[] = {"load", "decode", "shuffle", "transform", "hash", "batch"};
  for (const char* name : names) {
    const bool waits = std::string(name) == "load";
    model.stages.push_back(
        stage_of(name, drawn(random, 0.01, 0.08), waits ? 0.3 : drawn(random, 0.8, 1)));
  }
  model.stages.back().ordered = kind.ordered;
  for (std::size_t k = 0; k < kind.nodes; ++k) {
    model.nodes.push_back({.name = "n" + std::to_string(k + 1),
                           .cpus = static_cast<double>(4 << (random.below(3))),
                           .memory_bytes = std::uint64_t{16} << 30,
                           .seconds_factor = drawn(random, 0.8, 1.6),
                           .trainer = k == 0});
  }
  model.cpus = model.nodes[0].cpus;
  model.memory_bytes = model.nodes[0].memory_bytes;
  double all = 0;
  for (std::size_t k = 0; k < kind.nodes; ++k) all += node_rate_bound(model, k);
  const std::size_t thin = 1 + random.below(kind.nodes - 1);
  const auto bytes = static_cast<double>(model.stages.back().bytes_out);
  model.nodes[thin].link_rate = kind.thin * node_rate_bound(model, thin) * bytes;
  model.trainer_step_seconds = 1 / (kind.demand * all);
  if (kind.server > 0) {
    model.resources.push_back({.name = "nfs", .rate = kind.server * all * 1e6});
    model.stages.front().uses.push_back({.resource = "nfs", .units = 1e6});
  }
  return model;
}

WorldKind random_kind(std::uint64_t seed) {
  Random random(mix64(seed, 99));
  WorldKind kind;
  kind.nodes = 3 + random.below(14);
  kind.demand = drawn(random, 0.2, 1.5);
  kind.server = random.below(2) == 0 ? drawn(random, 0.2, 1.2) : 0;
  kind.ordered = random.below(2) == 0;
  kind.thin = drawn(random, 0.1, 1);
  return kind;
}

std::uint32_t fewest_workers(PipelineModel model) {
  const double wanted = 0.98 * rate_bound(model);
  std::vector<std::size_t> order;
  for (std::size_t k = 1; k < model.nodes.size(); ++k) order.push_back(k);
  std::ranges::sort(
      order, [&](auto a, auto b) { return node_rate_bound(model, a) > node_rate_bound(model, b); });
  for (const std::size_t k : order) model.nodes[k].present = false;
  std::uint32_t count = 0;
  while (count < order.size() && rate_bound(model) < wanted) {
    model.nodes[order[count++]].present = true;
  }
  return count;
}

struct Scores {
  std::vector<double> ratio, last, gain, workers, over;
  static double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
  }
  static double least(const std::vector<double>& values) {
    return values.empty() ? 0 : *std::ranges::min_element(values);
  }
  static double most(const std::vector<double>& values) {
    return values.empty() ? 0 : *std::ranges::max_element(values);
  }
};

double trained_in(const Trace& trace, std::size_t from) {
  double sum = 0;
  for (std::size_t i = from; i < trace.periods.size(); ++i) {
    sum += static_cast<double>(trace.periods[i].trained);
  }
  return sum / (kPeriodSeconds * static_cast<double>(trace.periods.size() - from));
}

void score(const PipelineModel& model, Scores& scores, bool alone) {
  const double bound = rate_bound(model);
  const auto find = [&](const PipelineModel&) {
    return BestKnown{.allocation = one_each(world_description(model)), .splits_per_second = bound};
  };
  const auto run = [&](const char* policy) {
    return run_one({.model = model, .policy = policy, .decisions = 60, .find_best = find},
                   simulated_machines(), {});
  };
  const ComparedRun central = run("central");
  const std::size_t late = central.record.trace.periods.size() - 20;
  const double made = trained_in(central.record.trace, 1);
  const double last = trained_in(central.record.trace, late);
  const double fewest = fewest_workers(model);
  const double fed = central.fed_workers.value_or(0);
  scores.ratio.push_back(made / bound);
  scores.last.push_back(last / bound);
  if (fewest > 0) scores.workers.push_back(fed / fewest);
  scores.over.push_back(fed - fewest);
  double other = 0;
  if (alone) {
    other = trained_in(run("intune:no-network").record.trace, 1);
    scores.gain.push_back(made / other);
  }
  if (std::getenv("VERBOSE") == nullptr) return;
  std::printf("%s: %zu nodes%s, bound %.1f/s, ratio %.3f, last %.3f, workers %.1f of %.0f",
              model.name.c_str(), model.nodes.size(),
              model.stages.back().ordered ? ", ordered" : "", bound, made / bound, last / bound,
              fed, fewest);
  if (alone) std::printf(", alone %.3f", other / bound);
  std::printf("%s\n", central.out_of_memory ? ", OUT OF MEMORY" : "");
  std::fflush(stdout);
}

void print(const char* name, const Scores& scores) {
  std::printf(
      "%-28s over the bound %.3f (least %.3f), last 20 %.3f (least %.3f), "
      "workers over the fewest %.3f (most %.2f, most beyond %.1f), over a tuner a node %.2f (least "
      "%.2f)\n",
      name, Scores::mean(scores.ratio), Scores::least(scores.ratio), Scores::mean(scores.last),
      Scores::least(scores.last), Scores::mean(scores.workers), Scores::most(scores.workers),
      Scores::most(scores.over), Scores::mean(scores.gain), Scores::least(scores.gain));
}

int unequal(std::uint64_t runs) {
  for (const bool ordered : {true, false}) {
    for (const double server : {1.5, 0.4}) {
      Scores scores;
      for (std::uint64_t seed = 1; seed <= runs; ++seed) {
        score(world_of(seed, {.server = server, .ordered = ordered}), scores, true);
      }
      print((std::string(ordered ? "in order" : "any order") +
             (server > 1 ? ", trainer-bound" : ", server-bound"))
                .c_str(),
            scores);
    }
  }
  return 0;
}

int random_worlds(std::uint64_t worlds) {
  Scores scores;
  const char* only = std::getenv("ONLY");
  const char* first = std::getenv("FIRST");
  const std::uint64_t from = first == nullptr ? 1 : std::strtoull(first, nullptr, 10);
  for (std::uint64_t seed = from; seed < from + worlds; ++seed) {
    if (only != nullptr && std::to_string(seed) != only) continue;
    score(world_of(seed, random_kind(seed)), scores, false);
  }
  print("random worlds", scores);
  return 0;
}

ClusterReport report_of(WorldSimulator& world, const PipelineModel& model) {
  ClusterReport report{.at_seconds = world.now(), .trainer = {.seconds = 2, .waited_seconds = 1}};
  for (std::size_t k = 0; k < world.nodes(); ++k) {
    Observation seen = world.observe_node(k);
    report.nodes.push_back({.name = model.nodes[k].name,
                            .trainer = k == 0,
                            .description = node_description(model, k),
                            .limits = seen.limits,
                            .seen = std::move(seen),
                            .blocked = 0.3,
                            .ways = {{}, {1.5, 0.002}, {2, 0.01}}});
  }
  return report;
}

int speed() {
  const PipelineModel model = world_of(1, {.nodes = 64, .demand = 0.7, .server = 0.6});
  WorldSimulator world(model, 1);
  ClusterPlanner planner;
  std::vector<double> times;
  for (int i = 1; i <= 60; ++i) {
    world.run_until(2.0 * i);
    const ClusterReport report = report_of(world, model);
    const auto began = thread_cpu_time();
    const ClusterAdvice advice = planner.decide(report);
    times.push_back(1e3 * in_seconds(thread_cpu_time() - began));
    for (std::size_t k = 0; k < world.nodes(); ++k) {
      world.apply_to(k, advice.nodes[k].allocation);
    }
  }
  std::ranges::sort(times);
  std::printf("64 nodes x 6 stages: %.2f ms a decision (median), %.2f ms (p95)\n",
              times[times.size() / 2], times[times.size() * 95 / 100]);
  return 0;
}

int run(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "unequal";
  const auto number = [&](std::uint64_t otherwise) {
    return count > 2 ? std::strtoull(words[2], nullptr, 10) : otherwise;
  };
  if (what == "speed") return speed();
  if (what == "random") return random_worlds(number(50));
  return unequal(number(5));
}

}  // namespace
}  // namespace forebay::tuner

int main(int count, char** words) { return forebay::tuner::run(count, words); }
