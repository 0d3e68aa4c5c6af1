#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/store/store.h"
#include "engine/cluster/head_location.h"
#include "scheduler/client/split_client.h"
#include "scheduler/cluster_status.h"
#include "scheduler/head/head_actor.h"
#include "scheduler/protocol.h"
#include "scheduler/range_set.h"
#include "scheduler/worker/split_executor.h"

namespace forebay::scheduler {

/// The trainer's side of a cluster whose trainer only counts splits: the real head (with its store
/// in memory) and the real split client with a real port. It issues new splits as others arrive and
/// keeps a window of them issued.
///
/// Owns all of it; listens on loopback from make() until it is destroyed.
class CountingTrainer final : ArrivalSink, HeadFinder {
 public:
  struct Options {
    std::uint32_t workers = 1;  ///< No split is leased before so many workers are ready.
    std::uint64_t splits = 0;   ///< Splits of the job.
    /// Most splits issued and not arrived, counted from the lowest missing one.
    std::uint64_t window = 0;
    std::uint64_t warm_up = 0;   ///< Arrivals before the measurement.
    std::uint64_t measured = 1;  ///< Arrivals during the measurement.
  };

  static Result<std::unique_ptr<CountingTrainer>> make(const Options& options, const Clock& clock);

  const std::string& address() const { return address_; }
  Result<ClusterStatus> status() const;
  /// Returns the seconds that the measured splits took; nullopt if they have not arrived after
  /// `timeout`.
  std::optional<double> wait(std::chrono::seconds timeout);

 private:
  CountingTrainer(const Options& options, const Clock& clock) : options_(options), clock_(clock) {}

  Status start_split_client();
  void issue_more();
  Result<bool> arrived(std::uint64_t split, const std::string& worker, Frames frames) override;
  HeadRef head() override { return head_; }

  const Options options_;
  const Clock& clock_;
  std::string address_;
  MemoryStore store_;
  HeadRef head_;
  ActorRef<QueryCluster> head_status_;
  SplitClient::Ref split_client_;
  RangeSet arrived_;        // used on the split client's thread, like those below
  std::uint64_t next_ = 0;  // the next split to issue
  std::chrono::nanoseconds start_{0};
  std::promise<double> done_;
  std::unique_ptr<NetworkEndpoint> net_;  // destroyed first
};

/// One worker of an emulated node: the real worker actor with its own port. Its splits take time on
/// virtual CPUs and compute nothing.
class EmulatedNode final : HeadFinder, SplitClientFinder {
 public:
  struct Options {
    std::string join;
    std::string name;
    std::uint32_t cpus = 32;
    std::chrono::nanoseconds split = std::chrono::milliseconds(64);  ///< Mean time of a split.
    /// Called with each split that begins, on the worker's thread.
    std::function<void(std::uint64_t)> on_begin = {};
  };

  /// Returns how many splits a node with `cpus` CPUs holds at most, as computed by NodeStages.
  static std::uint32_t slots(std::uint32_t cpus);

  static Result<std::unique_ptr<EmulatedNode>> make(Options options, const Clock& clock);

 private:
  explicit EmulatedNode(Options options) : options_(std::move(options)) {}

  HeadRef head() override;
  SplitClientRef split_client(const std::string& address) override;

  const Options options_;
  std::unique_ptr<SplitExecutor> work_;
  std::unique_ptr<NetworkEndpoint> net_;  // destroyed first
};

}  // namespace forebay::scheduler
