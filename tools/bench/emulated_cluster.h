#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/store/memory_store.h"
#include "engine/cluster/network_endpoint.h"
#include "scheduler/arrival_sink.h"
#include "scheduler/cluster_status.h"
#include "scheduler/finders.h"
#include "scheduler/head_actor.h"
#include "scheduler/range_set.h"
#include "scheduler/split_client.h"
#include "scheduler/split_executor.h"

namespace forebay {

/// The trainer's side of a cluster whose trainer only counts: the real head (its store in memory)
/// and the real split client behind a real port, issuing splits as they come, a window of them at
/// once.
///
/// Owns all of it; listens on loopback from make() to its end.
class CountingTrainer final : scheduler::ArrivalSink, scheduler::HeadFinder {
 public:
  struct Options {
    std::uint32_t workers = 1;   ///< Nothing is leased before so many are ready.
    std::uint64_t splits = 0;    ///< Of the job.
    std::uint64_t window = 0;    ///< Issued and not arrived, counted from the lowest missing one.
    std::uint64_t warm_up = 0;   ///< Arrivals before the clock starts,
    std::uint64_t measured = 1;  ///< and while it runs.
  };

  static Result<std::unique_ptr<CountingTrainer>> make(const Options& options, const Clock& clock);
  ~CountingTrainer() override;

  const std::string& address() const { return address_; }
  Result<scheduler::ClusterStatus> status() const;
  /// Seconds that the measured splits took; nothing when they have not come by then.
  std::optional<double> wait(std::chrono::seconds timeout);

 private:
  CountingTrainer(const Options& options, const Clock& clock) : options_(options), clock_(clock) {}

  void start_head();
  Status start_split_client();
  void issue_more();
  Result<bool> arrived(std::uint64_t split, const std::string& worker, Frames frames) override;
  scheduler::HeadRef head() override { return head_; }

  const Options options_;
  const Clock& clock_;
  std::string address_;
  MemoryStore store_;
  scheduler::HeadRef head_;
  ActorRef<scheduler::QueryCluster> head_status_;
  scheduler::SplitClient::Ref split_client_;
  scheduler::RangeSet arrived_;  // the split client's thread, as those below
  std::uint64_t next_ = 0;       // to be issued
  std::chrono::nanoseconds start_{0};
  std::promise<double> done_;
  std::unique_ptr<NetworkEndpoint> net_;  // goes first
};

/// One worker of an emulated node: the real worker actor with its own port, whose splits take their
/// time on virtual CPUs and compute nothing.
class EmulatedNode final : scheduler::HeadFinder, scheduler::SplitClientFinder {
 public:
  struct Options {
    std::string join;
    std::string name;
    std::uint32_t cpus = 32;
    std::chrono::nanoseconds split = std::chrono::milliseconds(64);  ///< A split's mean.
    std::function<void(std::uint64_t)> on_begin = {};  ///< A split; on the worker's thread.
  };

  /// Splits that a node with so many CPUs wants in hand, as NodeStages counts them.
  static std::uint32_t slots(std::uint32_t cpus);

  static Result<std::unique_ptr<EmulatedNode>> make(Options options, const Clock& clock);
  ~EmulatedNode() override;

 private:
  explicit EmulatedNode(Options options) : options_(std::move(options)) {}

  scheduler::HeadRef head() override;
  scheduler::SplitClientRef split_client(const std::string& address) override;

  const Options options_;
  std::unique_ptr<scheduler::SplitExecutor> work_;
  std::unique_ptr<NetworkEndpoint> net_;  // goes first
};

}  // namespace forebay
