#include "actors/stage/stage_queues.h"

#include <algorithm>
#include <cmath>

#include "core/base/clock.h"

namespace forebay {
namespace {

constexpr std::chrono::milliseconds kInterval(100);
constexpr double kMemory = 1;        // seconds after which older intervals have faded
constexpr double kBurst = 0.05;      // share of both sides' time, from which they wait in turns
constexpr double kIdle = 0.08;       // share of the CPUs that such waiting leaves idle
constexpr double kSaturated = 0.03;  // share up to which all CPUs work
constexpr double kGrowSeconds = 0.5;
constexpr double kShrinkSeconds = 10;
constexpr double kUnused = 0.5;  // share of a mailbox that suffices for half of it

double share(std::chrono::nanoseconds part, std::chrono::nanoseconds whole) {
  return whole.count() > 0 ? in_seconds(part) / in_seconds(whole) : 0;
}

std::chrono::nanoseconds alive(const ActorTotals& totals) {
  return totals.busy + totals.wait_input + totals.wait_output;
}

double fill_of(const PoolStats& pool) {
  const auto limit = static_cast<double>(std::max<std::size_t>(1, pool.mailbox_bytes));
  return std::min(1.0, static_cast<double>(pool.queued_bytes) / limit);
}

}  // namespace

void QueueDepth::observe(const HandOver& interval) {
  const double weight = 1 - std::exp(-interval.seconds / kMemory);
  blocked_ += weight * (interval.blocked - blocked_);
  starved_ += weight * (interval.starved - starved_);
  idle_cpus_ += weight * (interval.idle_cpus - idle_cpus_);
  seconds_ += interval.seconds;
  most_filled_ = std::max(most_filled_, interval.fill);
  saturated_ = idle_cpus_ < kSaturated ? saturated_ + interval.seconds : 0;
  const bool bursts = std::min(blocked_, starved_) > kBurst && idle_cpus_ > kIdle;
  const bool unused = seconds_ > kShrinkSeconds && most_filled_ <= kUnused;
  if (bursts && seconds_ > kGrowSeconds) {
    become(std::min(2 * times_, kMost));
  } else if (unused || saturated_ > kShrinkSeconds) {
    become(std::max(times_ / 2, 1U));
  }
}

void QueueDepth::become(std::uint32_t times) {
  times_ = times;
  seconds_ = most_filled_ = saturated_ = 0;
}

bool StageQueues::due(std::chrono::nanoseconds now) const {
  return !began_ || now - at_ >= kInterval;
}

void StageQueues::observe(const Reading& reading) {
  const double seconds = in_seconds(reading.at - at_);
  const double used = in_seconds(reading.cpu - cpu_);
  const double idle = cpus_ > 0 ? std::clamp(1 - used / (cpus_ * seconds), 0.0, 1.0) : 0;
  std::vector<QueueDepth> depths(depths_.size());  // of a stage that has joined another: as new
  for (std::size_t i = 1; began_ && i < reading.firsts.size(); ++i) {
    const std::size_t from = reading.firsts[i - 1];
    const std::size_t to = reading.firsts[i];
    const ActorTotals& producers = reading.pools[from].totals;
    const ActorTotals& consumers = reading.pools[to].totals;
    depths[to] = depths_[to];
    depths[to].observe({.seconds = seconds,
                        .blocked = share(producers.wait_output - last_[from].wait_output,
                                         alive(producers) - alive(last_[from])),
                        .starved = share(consumers.wait_input - last_[to].wait_input,
                                         alive(consumers) - alive(last_[to])),
                        .idle_cpus = idle,
                        .fill = fill_of(reading.pools[to])});
  }
  depths_ = std::move(depths);
  for (std::size_t i = 0; i < last_.size(); ++i) last_[i] = reading.pools[i].totals;
  at_ = reading.at;
  cpu_ = reading.cpu;
  began_ = true;
}

std::uint64_t StageQueues::deepened() const {
  std::uint64_t all = 0;
  for (const QueueDepth& depth : depths_) all += depth.times() - 1;
  return all;
}

}  // namespace forebay
