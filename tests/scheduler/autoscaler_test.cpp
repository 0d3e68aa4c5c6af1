#include "scheduler/autoscaler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

/// The rule of tf.data service, for comparison: total consumption divided by the mean throughput of
/// a worker, where throughputs more than one deviation from the mean are replaced by the median.
std::uint32_t tf_data_service_workers(std::span<const double> trained,
                                      std::vector<double> worker_rates) {
  if (worker_rates.empty()) return 1;
  const double count = static_cast<double>(worker_rates.size());
  const double mean = std::accumulate(worker_rates.begin(), worker_rates.end(), 0.0) / count;
  double squares = 0;
  for (const double rate : worker_rates) squares += (rate - mean) * (rate - mean);
  const double deviation = std::sqrt(squares / count);
  std::vector<double> sorted = worker_rates;
  std::sort(sorted.begin(), sorted.end());
  const double median = sorted[sorted.size() / 2];
  for (double& rate : worker_rates) {
    if (std::abs(rate - mean) > deviation) rate = median;
  }
  const double usual = std::accumulate(worker_rates.begin(), worker_rates.end(), 0.0) / count;
  const double demand = std::accumulate(trained.begin(), trained.end(), 0.0);
  if (usual <= 0) return 1;
  return static_cast<std::uint32_t>(std::max(1.0, std::ceil(demand / usual)));
}

/// A trainer that takes `demand` splits/s when it can, workers that could make `each`, in intervals
/// of two seconds. All workers are here at once.
class Cluster {
 public:
  explicit Cluster(std::uint32_t workers, Autoscaler::Options options = {}) : scaler_(options) {
    set_workers(workers);
  }

  /// An interval passes, in which the workers make `made` in all; returns the decision.
  ScaleDecision interval(double made) {
    ScaleInput input{.seconds = 2, .local_rate = local};
    input.taken = 2 * std::min(demand, made + local);
    input.arrived = input.taken;
    input.waited = 2 - input.taken / demand;
    input.workers = workers_;
    for (WorkerSeen& worker : input.workers) {
      worker.rate = made / static_cast<double>(workers_.size());
      worker.could_make = each;
      worker.busy = busy;
    }
    return scaler_.decide(input);
  }
  /// The same, workers make all that they can and the trainer takes.
  ScaleDecision interval() {
    const double could = each * static_cast<double>(workers_.size());
    busy = could > demand - local ? 0.3 : 1;
    return interval(std::min(could, demand - local));
  }
  /// Obeys each decision for so many intervals; returns the numbers that were asked for.
  std::vector<std::uint32_t> obey(int intervals) {
    std::vector<std::uint32_t> asked;
    for (int i = 0; i < intervals; ++i) {
      const std::uint32_t wanted = interval().workers;
      if (wanted != workers_.size()) asked.push_back(wanted);
      set_workers(wanted);
    }
    return asked;
  }
  void set_workers(std::uint32_t count) {
    while (workers_.size() > count) workers_.pop_back();
    while (workers_.size() < count) workers_.push_back({.id = ++last_});
  }
  Autoscaler& scaler() { return scaler_; }

  double demand = 155;
  double each = 60;
  double local = 0;
  double busy = 1;

 private:
  Autoscaler scaler_;
  std::vector<WorkerSeen> workers_;
  std::uint64_t last_ = 0;
};

using Numbers = std::vector<std::uint32_t>;

TEST_CASE("without workers a trainer that waits gets one to learn from, then what it needs",
          "[scheduler]") {
  // 155 * 1.05 / 60 = 2.7 workers.
  Cluster cluster(0);
  CHECK(cluster.obey(4) == Numbers{1, 3});
  CHECK(cluster.obey(300).empty());
  CHECK(cluster.scaler().needed() == 3);
}

TEST_CASE("a fed trainer asks for no more workers, whatever they could make", "[scheduler]") {
  Cluster cluster(3);
  CHECK(cluster.obey(20).empty());
  cluster.each = 20;  // They say that they could make 60 in all, and the trainer gets 155.
  for (int i = 0; i < 20; ++i) CHECK(cluster.interval(155).workers <= 3);
}

TEST_CASE("too many workers go within three intervals at the start", "[scheduler]") {
  Cluster cluster(16);
  CHECK(cluster.obey(3) == Numbers{3});
}

TEST_CASE("the trainer's own node counts with what it can make", "[scheduler]") {
  // (155 * 1.05 - 100) / 60 = 1.05: a second worker would be used less than a tenth.
  Cluster cluster(1);
  cluster.local = 100;
  CHECK(cluster.obey(20).empty());
  cluster.local = 0;
  CHECK(cluster.obey(20).back() == 3);
}

TEST_CASE("a trainer that its own node feeds needs no workers", "[scheduler]") {
  Cluster none(0);
  none.local = 170;
  CHECK(none.obey(10).empty());
}

TEST_CASE("after a settled time fewer workers must be enough for a quarter of a minute",
          "[scheduler]") {
  Cluster cluster(3);
  cluster.obey(10);
  cluster.demand = 39;  // 39 * 1.05 * 1.04 / 60 = 0.7
  // A new demand counts from the second interval on; then 15 s are 8 intervals.
  CHECK(cluster.obey(8).empty());
  CHECK(cluster.obey(2) == Numbers{1});
  CHECK(cluster.obey(300).empty());
}

TEST_CASE("a short lull changes nothing", "[scheduler]") {
  Cluster cluster(3);
  cluster.obey(10);
  for (int i = 0; i < 10; ++i) {
    cluster.demand = 39;
    CHECK(cluster.obey(5).empty());
    cluster.demand = 155;
    CHECK(cluster.obey(5).empty());
  }
}

TEST_CASE("a number of workers that starved the trainer is not tried again", "[scheduler]") {
  Cluster cluster(2);
  CHECK(cluster.obey(10) == Numbers{3});
  // From here on the workers claim 20 % more than they make: two would do by that sum.
  cluster.each = 68;
  for (int i = 0; i < 50; ++i) {
    cluster.busy = 0.9;
    CHECK(cluster.interval(155).workers == 3);
  }
}

TEST_CASE("workers that take from each other are a shared limit, and the fewest that reach it stay",
          "[scheduler]") {
  // A store gives 100 splits/s: 60 to one worker, 50 to each of two, 33 to each of three.
  Cluster cluster(1);
  std::uint32_t workers = 1;
  std::uint32_t most = 1;
  for (int i = 0; i < 40; ++i) {
    cluster.each = std::min(60.0, 100.0 / workers);
    workers = cluster.interval(std::min(60.0 * workers, 100.0)).workers;
    cluster.set_workers(workers);
    most = std::max(most, workers);
  }
  CHECK(most <= 5);
  CHECK(workers == 2);
  for (int i = 0; i < 300; ++i) {
    cluster.each = 50;
    CHECK(cluster.interval(100).workers == 2);
  }
}

TEST_CASE("workers of another speed are no shared limit", "[scheduler]") {
  // One makes 60, those that come after it 20 each. None of them loses anything by the others.
  Autoscaler scaler({});
  std::vector<WorkerSeen> workers{{.id = 1, .rate = 60, .could_make = 60}};
  std::uint32_t wanted = 1;
  for (int i = 0; i < 40; ++i) {
    ScaleInput input{.seconds = 2, .workers = workers};
    for (const WorkerSeen& worker : workers) input.taken += 2 * worker.rate;
    input.taken = std::min(input.taken, 310.0);
    input.arrived = input.taken;
    input.waited = 2 - input.taken / 155;
    wanted = scaler.decide(input).workers;
    while (workers.size() < wanted) {
      workers.push_back({.id = workers.size() + 1, .rate = 20, .could_make = 20});
    }
    workers.resize(wanted);
  }
  CHECK(wanted >= 6);  // 60 + 5 * 20 = 160
  CHECK(wanted <= 7);
}

TEST_CASE("idle workers beside a waiting trainer are a limit elsewhere, and those beyond it go",
          "[scheduler]") {
  // The link carries 100 splits/s: 100 * 1.05 / 60 = 1.75 workers.
  Cluster cluster(6);
  std::uint32_t workers = 6;
  for (int i = 0; i < 300; ++i) {
    cluster.busy = workers <= 1 ? 1 : 0.2;
    workers = cluster.interval(std::min(60.0 * workers, 100.0)).workers;
    cluster.set_workers(workers);
    if (i > 10) CHECK(workers == 2);
  }
}

TEST_CASE("waiting batches do not hide that busy workers make less than the trainer takes",
          "[scheduler]") {
  Autoscaler scaler({});
  ScaleInput input{.seconds = 2, .taken = 310, .waited = 0, .arrived = 240};
  for (std::uint64_t id : {1, 2}) input.workers.push_back({.id = id, .rate = 60, .could_make = 60});
  std::uint32_t wanted = 0;
  for (int i = 0; i < 8; ++i) wanted = scaler.decide(input).workers;
  CHECK(wanted == 3);
}

TEST_CASE("a launcher that gives fewer workers is not asked for more, and for a dead one again",
          "[scheduler]") {
  Cluster capped(2, {.most = 64});
  std::uint32_t wanted = 0;
  for (int i = 0; i < 150; ++i) {  // five minutes
    const ScaleDecision decision = capped.interval();
    wanted = decision.workers;
    CHECK_FALSE(decision.again);
  }
  CHECK(wanted == 3);
  Cluster dying(3);
  dying.obey(10);
  dying.set_workers(2);
  int again = 0;
  for (int i = 0; i < 150; ++i) {
    const ScaleDecision decision = dying.interval();
    CHECK(decision.workers == 3);
    again += decision.again ? 1 : 0;
  }
  // After 10 s without it, and after twice the time before: 10, 30, 70, 150 s.
  CHECK(again == 4);
}

TEST_CASE("a run starts with the workers that the last one needed, within its bounds",
          "[scheduler]") {
  Cluster cluster(0, {.start = 3});
  CHECK(cluster.interval(0).workers == 3);
  CHECK(Cluster(0, {.most = 2, .start = 3}).interval(0).workers == 2);
  CHECK(Cluster(5, {.start = 3}).interval(155).workers == 5);
}

TEST_CASE("a long step of the trainer is no lull", "[scheduler]") {
  Cluster cluster(3);
  cluster.obey(10);
  // Ten intervals without a split, as a trainer does that scores its rows by itself.
  for (int i = 0; i < 10; ++i) {
    ScaleInput input{.seconds = 2};
    for (std::uint64_t id : {1, 2, 3})
      input.workers.push_back({.id = id, .could_make = 60, .busy = 0});
    CHECK(cluster.scaler().decide(input).workers == 3);
  }
  CHECK(cluster.obey(10).empty());
}

TEST_CASE("tf.data service's rule is all consumption over the mean worker", "[scheduler]") {
  // Demand 20 + 20 = 40/s, workers of 5/s: 8.
  CHECK(tf_data_service_workers(std::vector<double>{20, 20}, {5, 5}) == 8);
  // 5, 5, 5, 25: mean 10, deviation 8.7; 25 is further from it than that and counts as the median
  // 5: 40 / 5 = 8 again, not 4.
  CHECK(tf_data_service_workers(std::vector<double>{40}, {5, 5, 5, 25}) == 8);
  CHECK(tf_data_service_workers(std::vector<double>{1}, {5}) == 1);
  CHECK(tf_data_service_workers(std::vector<double>{1}, {}) == 1);
}

TEST_CASE("our rule sees a trainer that is starved now, tf.data service's does not",
          "[scheduler]") {
  // Two workers of 10/s feed a trainer that could take 60/s: it takes 20/s and waits two thirds.
  CHECK(tf_data_service_workers(std::vector<double>{20}, {10, 10}) == 2);
  Cluster cluster(2);
  cluster.demand = 60;
  cluster.each = 10;
  CHECK(cluster.obey(3) == Numbers{7});  // 60 * 1.05 / 10 = 6.3
}

}  // namespace
}  // namespace forebay::scheduler
