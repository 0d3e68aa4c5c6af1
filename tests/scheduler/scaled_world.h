#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/base/random.h"
#include "scheduler/autoscaler.h"

namespace forebay::scheduler::test {

/// A trainer, its workers and a launcher, in intervals of two seconds: what an autoscaler meets.
///
/// Each worker has a speed of its own. The limits: the demand, a link that leaves workers idle, a
/// store whose rate they share, each of them busy. What workers say of themselves is wrong by a
/// constant and by noise. The launcher obeys late, up to its cap. A value.
class ScaledWorld {
 public:
  struct Options {
    double demand = 155;        ///< Splits/s.
    double worker = 60;         ///< Mean splits/s of a worker.
    double spread = 0;          ///< Of the workers' speeds, relative.
    double local = 0;           ///< Splits/s of the trainer's own node.
    double link = 1e9;          ///< Splits/s that reach the trainer from workers.
    double store = 1e9;         ///< Splits/s that all workers can read.
    double noise = 0;           ///< Of each figure of an interval, relative.
    double bursts = 0;          ///< Chance that an interval's splits wait for an earlier one.
    double unfair = 0;          ///< How unequally workers share what they make, relative.
    double wrong = 0;           ///< By which workers misjudge what they could make, relative.
    int delay = 0;              ///< Intervals until the launcher obeys.
    std::uint32_t cap = 1000;   ///< The most workers that the launcher gives.
    std::uint32_t workers = 0;  ///< At the start.
    double deaths = 0;          ///< Chance that a worker dies in an interval.
    std::uint64_t seed = 1;
  };
  static constexpr double kSeconds = 2;

  explicit ScaledWorld(const Options& options)
      : now(options), random_(options.seed), orders_(1 + options.delay, options.workers) {
    wrong_ = 1 + now.wrong * (2 * random_.uniform() - 1);
    start_workers(now.workers);
  }

  Options now;  ///< May be changed between two intervals.

  /// An interval passes. Returns what the autoscaler sees of it.
  ScaleInput interval() {
    start_workers(orders_.front());
    if (orders_.size() > 1) orders_.pop_front();
    std::erase_if(workers_, [&](const Worker&) { return random_.uniform() < now.deaths; });
    const double could = sum();
    const double shared = std::min(1.0, now.store / std::max(could, 1e-9));
    const double made = std::min(could * shared, now.link);
    const double all = std::min(now.demand, made + now.local);
    const double local = std::min(now.local, all);
    const double used = could > 0 ? (all - local) / (could * shared) : 0;
    const double taken = arrived(all);
    ScaleInput input{.seconds = kSeconds, .local_rate = noisy(local)};
    input.taken = noisy(taken) * kSeconds;
    input.arrived = input.taken;
    input.waited = kSeconds * std::clamp(1 - taken / now.demand + 0.01 * random_.uniform(), 0., 1.);
    for (Worker& worker : workers_) {
      if (worker.age++ == 0) {
        ++input.joining;
        continue;
      }
      const double most = worker.speed * shared;
      input.workers.push_back({.id = worker.id,
                               .rate = noisy(most * used),
                               .could_make = worker.age < 3 ? 0 : noisy(most * wrong_),
                               .busy = std::clamp(1 - 4 * (1 - used), 0.0, 1.0)});
    }
    deal(input.workers);
    rate = all;
    return input;
  }

  void ask(std::uint32_t count) {
    if (orders_.back() != count) orders_.assign(orders_.size(), orders_.front());
    orders_.back() = count;
  }

  std::uint32_t here() const { return static_cast<std::uint32_t>(workers_.size()); }
  /// The fewest workers of mean speed that bring all that this world allows.
  std::uint32_t fewest() const {
    const double most = std::min({now.demand - now.local, now.link, now.store});
    return static_cast<std::uint32_t>(std::ceil(std::max(0.0, most) / now.worker - 1e-9));
  }

  double rate = 0;  ///< Splits/s that were made for the trainer in the last interval.

 private:
  struct Worker {
    std::uint64_t id = 0;
    double speed = 0;
    int age = 0;  // intervals
  };

  /// Splits that wait are taken as soon as the trainer can.
  double arrived(double made) {
    waiting_ += made;
    if (now.bursts > 0 && random_.uniform() < now.bursts) return 0;
    const double taken = std::min(waiting_, now.demand);
    waiting_ -= taken;
    return taken;
  }
  /// Deals what all workers made among them anew.
  void deal(std::vector<WorkerSeen>& workers) {
    if (now.unfair <= 0) return;
    double made = 0;
    double dealt = 0;
    for (WorkerSeen& worker : workers) {
      made += worker.rate;
      worker.rate *= 1 + now.unfair * (2 * random_.uniform() - 1);
      dealt += worker.rate;
    }
    for (WorkerSeen& worker : workers) worker.rate *= made / std::max(dealt, 1e-9);
  }
  double noisy(double value) { return value * (1 + now.noise * (2 * random_.uniform() - 1)); }
  double sum() const {
    double all = 0;
    for (const Worker& worker : workers_) all += worker.age > 0 ? worker.speed : 0;
    return all;
  }
  void start_workers(std::uint32_t count) {
    count = std::min(count, now.cap);
    while (workers_.size() > count) workers_.pop_back();
    while (workers_.size() < count) {
      const double factor = 1 + now.spread * (2 * random_.uniform() - 1);
      workers_.push_back({.id = ++last_, .speed = now.worker * factor});
    }
  }

  double waiting_ = 0;  // splits/s that were made and wait for earlier ones
  Random random_;
  std::deque<std::uint32_t> orders_;
  std::vector<Worker> workers_;
  std::uint64_t last_ = 0;
  double wrong_ = 1;
};

}  // namespace forebay::scheduler::test
