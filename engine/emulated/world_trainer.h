#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/runtime/synchronized.h"
#include "core/store/store.h"
#include "engine/cluster/head_location.h"
#include "engine/emulated/modelled_trainer.h"
#include "scheduler/client/split_client.h"
#include "scheduler/head/head_actor.h"
#include "scheduler/range_set.h"

namespace forebay {

/// The trainer's side of an emulated cluster: the real head, with its store in memory, and the real
/// split client, which issues splits and passes those that arrive to a sink.
///
/// Without order it keeps a window of splits issued. With order split n is issued when n is less
/// than the number that the trainer takes next plus the prefetch. The head waits long before it
/// calls a node lost that does not answer, and leases no split twice: a busy machine must not look
/// like a lost node. Listens on loopback from make() until it is destroyed. Any thread.
class WorldTrainer final : scheduler::ArrivalSink, scheduler::HeadFinder {
 public:
  struct Options {
    std::size_t nodes = 1;
    bool ordered = false;
    std::uint32_t prefetch = 1;  ///< With order: splits issued at the start.
    /// Without order: how many splits to keep issued and not arrived.
    std::function<std::uint64_t()> window;
    std::function<void(const MadeSplit&)> on_arrival;
  };

  static Result<std::unique_ptr<WorldTrainer>> make(Options options, const Clock& clock);

  /// "H:P".
  const std::string& address() const { return address_; }
  NetworkEndpoint& net() { return *net_; }
  scheduler::HeadRef head() override { return head_; }
  scheduler::SplitClientRef split_client() const { return split_client_; }

  /// With order: splits that were issued and that the trainer has not taken.
  std::uint32_t issued() const;
  /// When a split was issued, in seconds since the start; 0 without order.
  double issued_at(std::uint64_t number) const;
  /// Counts a split of the trainer's own node, and issues more.
  void own_split_arrived(std::uint64_t number);
  /// Issues what the window has space for, without order.
  void issue_more();
  /// The trainer took this split; with order the next ones are issued, up to `prefetch` ahead.
  void taken(std::uint64_t number, double at, std::uint32_t prefetch);
  /// Tells the split client how far the trainer is. To be called a few times a second.
  void report();

 private:
  WorldTrainer(Options options, const Clock& clock) : options_(std::move(options)), clock_(clock) {}

  void start_split_client();
  void issue(std::uint64_t end, double at);
  Result<bool> arrived(std::uint64_t split, const std::string& worker, Frames frames) override;

  const Options options_;
  const Clock& clock_;
  std::string address_;
  MemoryStore store_;
  scheduler::HeadRef head_;
  scheduler::SplitClient::Ref split_client_;
  Synchronized<> serial_;                      // guards the members below
  std::uint64_t next_ = 0;                     // to issue
  std::uint64_t arrived_ = 0;                  // splits
  scheduler::RangeSet taken_;                  // by the trainer
  std::uint64_t reported_ = 0;                 // all below this
  std::map<std::uint64_t, double> issued_at_;  // with order, until taken
  std::unique_ptr<NetworkEndpoint> net_;       // destroyed first
};

}  // namespace forebay
