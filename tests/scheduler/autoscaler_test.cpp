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

Autoscaler scaler(double margin = 0, std::uint32_t patience = 3) {
  return Autoscaler(
      {.least = 0, .most = 20, .margin = margin, .patience = patience, .starved = 0.02});
}

TEST_CASE("the autoscaler asks for as many workers as the demand needs beyond the trainer's node",
          "[scheduler]") {
  // It takes 30/s and waits a quarter of its time: it would take 30 / 0.75 = 40/s. Its own node
  // makes 12, a worker 5: (40 - 12) / 5 = 5.6, so 6.
  const ScaleInput input{
      .trained = 30, .starved_ratio = 0.25, .local_rate = 12, .worker_rate = 5, .workers = 2};
  CHECK(demand_of(input) == Approx(40));
  const auto decision = scaler().decide(input);
  CHECK(decision.workers == 6);
  CHECK(decision.why.find("40 splits/s") != std::string::npos);
  // With a tenth to spare: (44 - 12) / 5 = 6.4, so 7.
  CHECK(scaler(0.1).decide(input).workers == 7);
}

TEST_CASE("the autoscaler asks for the fewest workers that feed the trainer", "[scheduler]") {
  for (int rate = 1; rate < 60; ++rate) {
    const ScaleInput input{.trained = 37,
                           .starved_ratio = 0,
                           .local_rate = 0,
                           .worker_rate = rate * 1.0,
                           .workers = 0};
    const auto workers = scaler().decide(input).workers;
    if (workers < 20) CHECK(workers * rate >= 37);
    CHECK((workers - 1) * rate < 37);
  }
}

TEST_CASE("a trainer that its own node feeds needs no workers", "[scheduler]") {
  const ScaleInput input{
      .trained = 10, .starved_ratio = 0, .local_rate = 12, .worker_rate = 5, .workers = 0};
  CHECK(scaler().decide(input).workers == 0);
}

TEST_CASE("a trainer that waits gets one worker to learn from", "[scheduler]") {
  ScaleInput input{
      .trained = 10, .starved_ratio = 0.5, .local_rate = 10, .worker_rate = 0, .workers = 0};
  CHECK(scaler().decide(input).workers == 1);
  input.workers = 3;
  CHECK(scaler().decide(input).workers == 3);
  input.workers = 0;
  input.starved_ratio = 0;
  CHECK(scaler().decide(input).workers == 0);
}

TEST_CASE("workers go only when fewer have been enough for a while", "[scheduler]") {
  Autoscaler tuned = scaler();
  ScaleInput input{
      .trained = 50, .starved_ratio = 0, .local_rate = 0, .worker_rate = 10, .workers = 5};
  CHECK(tuned.decide(input).workers == 5);
  input.trained = 20;
  CHECK(tuned.decide(input).workers == 5);
  input.trained = 31;  // 4 would have been needed here, so 4 stay.
  CHECK(tuned.decide(input).workers == 5);
  input.trained = 20;
  CHECK(tuned.decide(input).workers == 4);
  input.workers = 4;
  // A short lull counts from the start after it.
  CHECK(tuned.decide(input).workers == 4);
  input.trained = 40;
  CHECK(tuned.decide(input).workers == 4);
  input.trained = 20;
  CHECK(tuned.decide(input).workers == 4);
  CHECK(tuned.decide(input).workers == 4);
  CHECK(tuned.decide(input).workers == 2);
}

TEST_CASE("no worker is stopped while the trainer waits", "[scheduler]") {
  Autoscaler tuned = scaler();
  const ScaleInput input{
      .trained = 9, .starved_ratio = 0.1, .local_rate = 0, .worker_rate = 10, .workers = 3};
  for (int i = 0; i < 10; ++i) CHECK(tuned.decide(input).workers == 3);
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
  const ScaleInput input{
      .trained = 20, .starved_ratio = 2.0 / 3, .local_rate = 0, .worker_rate = 10, .workers = 2};
  CHECK(tf_data_service_workers(std::vector<double>{20}, {10, 10}) == 2);
  CHECK(scaler().decide(input).workers == 6);
}

}  // namespace
}  // namespace forebay::scheduler
