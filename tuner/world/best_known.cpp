#include "tuner/world/best_known.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "core/base/random.h"
#include "tuner/plan/plan.h"
#include "tuner/world/rate_bound.h"
#include "tuner/world/world_layout.h"
#include "tuner/world/world_simulator.h"

namespace forebay::tuner {
namespace {

constexpr std::uint64_t kSeed = 1;

/// A search of one world; remembers every rate that it simulated.
class Search {
 public:
  Search(const PipelineModel& model, const SearchOptions& options)
      : model_(model),
        options_(options),
        whole_(world_description(model)),
        most_(rate_bound(model)) {}

  BestKnown run() {
    for (std::size_t start = 0; start < options_.starts && !stops(); ++start) {
      climb(legal(start_of(start)));
    }
    return best_of_longer_runs();
  }

 private:
  using Key = std::vector<std::uint32_t>;  // Actors and prefetch.

  static Key key_of(const Allocation& allocation) {
    Key key = allocation.actors;
    key.push_back(allocation.prefetch);
    return key;
  }
  static Allocation allocation_of(const Key& key) {
    return {.actors = {key.begin(), key.end() - 1}, .prefetch = key.back()};
  }

  bool stops() const { return is_stopped() || best_ * (1 + options_.gain) >= most_; }
  bool is_stopped() const { return options_.stopped && options_.stopped(); }

  double rate(const Allocation& allocation) {
    const auto [found, added] = rates_.emplace(key_of(allocation), 0);
    if (added) found->second = simulated_rate(model_, allocation, options_.splits);
    best_ = std::max(best_, found->second);
    return found->second;
  }

  /// The largest of many rates over few splits is one that was lucky, so the best are simulated
  /// for longer; then each line gets the fewest actors that keep the rate, but for 0.2 %.
  BestKnown best_of_longer_runs() {
    constexpr std::size_t kMost = 4;
    std::vector<std::pair<double, Key>> ranked;
    for (const auto& [key, rate] : rates_) ranked.emplace_back(rate, key);
    std::ranges::sort(ranked, std::greater<>());
    ranked.resize(std::min(ranked.size(), kMost));
    BestKnown best{.allocation = one_each(whole_)};
    for (const auto& [rate, key] : ranked) {
      const double longer = simulated_rate(model_, allocation_of(key), 5 * options_.splits);
      if (longer <= best.splits_per_second) continue;
      best = {.allocation = allocation_of(key), .splits_per_second = longer};
    }
    if (!is_stopped()) trim(best);
    best.cut_short = is_stopped();
    return best;
  }

  void trim(BestKnown& best) {
    constexpr double kEqual = 0.998;
    const double wanted = kEqual * std::min({rate(best.allocation), best.splits_per_second, most_});
    const auto keeps = [&](const Allocation& at) {
      return rate_bound(model_, at) >= wanted && rate(at) >= wanted;
    };
    scale_down(best.allocation, keeps);
    trim_lines(best.allocation, keeps);
  }

  /// All lines by the same share first: otherwise the first lines would lose most.
  template <class Keeps>
  static void scale_down(Allocation& at, const Keeps& keeps) {
    constexpr int kHalvings = 6;
    const Allocation full = at;
    double too_small = 0;
    double enough = 1;
    for (int i = 0; i < kHalvings; ++i) {
      const double share = (too_small + enough) / 2;
      Allocation scaled = full;
      for (std::uint32_t& actors : scaled.actors) {
        actors = static_cast<std::uint32_t>(std::ceil(share * actors));
      }
      const bool kept = keeps(scaled);
      (kept ? enough : too_small) = share;
      if (kept) at = std::move(scaled);
    }
  }

  template <class Keeps>
  static void trim_lines(Allocation& at, const Keeps& keeps) {
    for (std::uint32_t& actors : at.actors) {
      std::uint32_t too_few = 0;
      std::uint32_t enough = actors;
      while (enough - too_few > 1) {
        actors = (too_few + enough) / 2;
        (keeps(at) ? enough : too_few) = actors;
      }
      actors = enough;
    }
  }

  void climb(Allocation at) {
    double reached = rate(at);
    bool gained = true;
    while (gained && !stops()) {
      gained = false;
      for (std::size_t move = 0; move < 4 * at.actors.size() + 2 && !stops(); ++move) {
        const auto next = moved(at, move);
        const double wanted = reached * (1 + options_.gain);
        if (!next || rate_bound(model_, *next) <= wanted) continue;
        const double brings = rate(*next);
        if (brings <= wanted) continue;
        at = *next;
        reached = brings;
        gained = true;
      }
    }
  }

  /// Nothing where the move leads to no legal allocation.
  std::optional<Allocation> moved(const Allocation& from, std::size_t move) const {
    Allocation to = from;
    if (move < 2) {
      to.prefetch = move == 0 ? from.prefetch * 2 : from.prefetch / 2;
      if (to.prefetch < 1 || to.prefetch > whole_.max_prefetch) return std::nullopt;
    } else {
      constexpr int kSteps[] = {5, 1, -5, -1};
      const std::size_t line = (move - 2) / 4;
      const int count = static_cast<int>(from.actors[line]) + kSteps[(move - 2) % 4];
      if (count < 1 || count > static_cast<int>(whole_.stages[line].max_actors)) {
        return std::nullopt;
      }
      to.actors[line] = static_cast<std::uint32_t>(count);
    }
    return fits(model_, to) ? std::optional(to) : std::nullopt;
  }

  /// The plan of each node for its share of the rate, for itself, and more, even, one each, and
  /// disturbed ones.
  Allocation start_of(std::size_t number) const {
    Allocation start{.prefetch = whole_.default_prefetch};
    Random random(mix64(kSeed, number));
    for (std::size_t k = 0; k < nodes_of(model_).size(); ++k) {
      const Allocation plan =
          node_plan(k, number == 0 ? share_of_rate(k) : trainer_rate_of(model_));
      const double even = nodes_of(model_)[k].cpus / static_cast<double>(model_.stages.size());
      for (const std::uint32_t planned : plan.actors) {
        constexpr double kTimes[] = {1, 1.3, 1, 2};
        double wanted = planned;
        if (number < 4) wanted *= kTimes[number];
        if (number == 4) wanted = even;
        if (number == 5) wanted = 1;
        if (number > 5) wanted *= 0.5 + 1.5 * random.uniform();
        start.actors.push_back(static_cast<std::uint32_t>(std::max(1.0, std::ceil(wanted))));
      }
    }
    if (number == 1 || number > 5) start.prefetch *= 2;
    return start;
  }

  /// The rate of a node if all nodes make the same share of their capacity.
  double share_of_rate(std::size_t k) const {
    constexpr double kRoom = 1.03;
    double all = 0;
    for (std::size_t i = 0; i < nodes_of(model_).size(); ++i) all += node_rate_bound(model_, i);
    const double own = node_rate_bound(model_, k);
    return all > 0 ? kRoom * own * std::min(1.0, most_ / all) : 0;
  }

  /// `wanted`: splits/s; 0: as many as it can.
  Allocation node_plan(std::size_t k, double wanted) const {
    const NodeModel node = nodes_of(model_)[k];
    std::vector<StageCost> costs = costs_of(model_);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const double tail = std::min(tail_factor(model_.stages[i]), 10.0);
      costs[i].seconds *= node.seconds_factor * tail;
    }
    return best_allocation(node_description(model_, k), costs,
                           {.limits = {.cpus = node.cpus, .memory_bytes = node.memory_bytes},
                            .trainer_rate = wanted})
        .allocation;
  }

  Allocation legal(const Allocation& wanted) const {
    Allocation whole{.prefetch = wanted.prefetch};
    for (std::size_t k = 0; k < nodes_of(model_).size(); ++k) {
      const Allocation part =
          fitted(node_description(model_, k),
                 shaped(node_description(model_, k), part_of_node(wanted, model_, k)),
                 {.bytes = nodes_of(model_)[k].memory_bytes});
      whole.actors.insert(whole.actors.end(), part.actors.begin(), part.actors.end());
      if (nodes_of(model_)[k].trainer) whole.prefetch = part.prefetch;
    }
    return whole;
  }

  const PipelineModel& model_;
  const SearchOptions& options_;
  const PipelineDescription whole_;
  const double most_;
  double best_ = 0;
  std::map<Key, double> rates_;
};

}  // namespace

double simulated_rate(const PipelineModel& steady, const Allocation& allocation,
                      std::uint64_t splits) {
  // Until queues are as full as they stay: what fits into the pipeline, and a little more.
  const auto held = static_cast<double>(allocation.total_actors() + allocation.prefetch +
                                        allocation.actors.size() * steady.queue_splits);
  const double warm_up = 0.15 + held / static_cast<double>(splits);
  constexpr int kMostParts = 40;
  WorldSimulator simulator(steady, kSeed, allocation);
  const double bound = rate_bound(steady, allocation);
  double part = static_cast<double>(splits) / bound;
  if (!(part > 0)) return 0;
  // A whole number of pauses, so that none counts in part.
  if (steady.pause) part = std::ceil(part / steady.pause->every) * steady.pause->every;
  simulator.run_until(steady.pause ? part : warm_up * part);
  const SimTotals warm = simulator.totals();
  SimTotals now = warm;
  for (int i = 1; i <= kMostParts && now.trained - warm.trained < splits; ++i) {
    simulator.run_until(warm.seconds + part * i);
    now = simulator.totals();
  }
  if (now.out_of_memory || now.seconds <= warm.seconds) return 0;
  return static_cast<double>(now.trained - warm.trained) / (now.seconds - warm.seconds);
}

BestKnown find_best(const PipelineModel& steady, const SearchOptions& options) {
  if (is_world(steady)) return Search(steady, options).run();
  const Plan plan = oracle_of(steady);
  return {
      .allocation = plan.allocation, .splits_per_second = plan.splits_per_second, .exact = true};
}

}  // namespace forebay::tuner
