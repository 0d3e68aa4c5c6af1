#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/buffer_pool.h"
#include "core/data/memory_budget.h"
#include "core/data/schema.h"
#include "core/runtime/synchronized.h"
#include "engine/ranks/rank_link.h"
#include "engine/ranks/state_peer.h"
#include "trainer/collective.h"

namespace forebay {

/// The end of every rank but 0: its slices of the batches and what to do with them.
///
/// Asks for two slices ahead, and for another whenever one is trained on. Owns the link and the
/// slices' memory. One thread, the model's, calls all of it.
class RankFollower final : RankListener {
 public:
  struct Options {
    int rank = 1;
    int size = 2;
    std::string group;
    std::string keys;        ///< As `cluster.keys`.
    std::string alike = {};  ///< As RankLeader::Options.
    std::string address;     ///< RankLeader::address.
    std::uint64_t batch_size = 0;
    std::chrono::nanoseconds timeout = std::chrono::seconds(30);
    std::function<int()> stop_signal;  ///< Asked now and then; not 0: rank 0 is told, once.
    std::function<void(int signal)> on_stop = {};  ///< Rank 0 was asked to stop before all had met.
    std::function<void(const std::string&)> say = {};  ///< Gets a sentence for the user.
  };

  /// Begins to connect to rank 0.
  static Result<std::unique_ptr<RankFollower>> open(const Options& options, const Clock& clock);
  ~RankFollower() override;

  /// Waits until rank 0 says that all ranks are here. Fails with what it says of those that are
  /// not, and when it is lost itself or does not answer (kUnavailable, kTimeout).
  Status wait_to_meet();
  /// Fails once a rank is known to be lost.
  Status check_ranks();

  /// Waits for it, however long rank 0 takes to open the job.
  Status wait_for_acceptance();
  const Schema& schema() const { return schema_; }
  void ready(const Status& done);
  /// What rank 0 lets this rank read, of the tensors that its order names.
  std::unique_ptr<StateSource> state(const RankCommand& command);

  Result<RankCommand> next_command();
  Result<std::shared_ptr<const Batch>> slice(std::uint64_t number);
  /// Gets the ids of batches as they come (Model::prefetch), on the link's thread; set once.
  using OnIds = std::function<void(std::shared_ptr<const Batch>)>;
  void tell_ids(const OnIds& to);
  /// Waits until it was told those of this batch.
  Status wait_for_ids(std::uint64_t number);
  /// What rank 0 was last given goes, so that a snapshot can be taken.
  void take_back() { state_.serve(nullptr); }
  /// Lets rank 0 read a snapshot.
  void give(Result<std::unique_ptr<StateSource>> snapshot);

  /// As soon as rank 0 or another one is lost, whoever waits in an operation of `ranks` waits no
  /// longer. It outlives the link, which goes with this.
  void breaks(Collective& ranks);
  /// Tells rank 0 what went wrong here, unless all end anyway.
  void failed(const Error& why);

  /// The same error; where another rank did not take part, what rank 0 says of it.
  Error explain(Error error);

  /// Nothing is read here any more. Before the model goes.
  void close();

  std::uint64_t buffer_bytes() const { return received_.used() + budget_.used(); }

 private:
  struct Inbox {
    std::optional<RankAccepted> accepted;
    std::size_t features = 0;  // sparse ones, as it says
    std::deque<RankCommand> commands;
    std::map<std::uint64_t, BatchSlice> slices;
    OnIds on_ids;
    std::vector<std::shared_ptr<const Batch>> early_ids;  // before there was anybody to tell
    std::uint64_t ids_until = 0;                          // the number after the last one's
    bool over = false;                                    // rank 0 has said so, and may go
    std::string broken;                                   // why all end; "": they do not
    Collective* ranks = nullptr;                          // what that breaks
  };

  explicit RankFollower(Options options);
  void on_message(int rank, RankMessage message) override;
  void on_ids(const BatchIds& ids);
  void pass_on(std::shared_ptr<const Batch> ids);
  void on_lost(int rank, const std::string& why) override;
  /// Waits for `ready(inbox)` and takes it; looks for a stop meanwhile.
  template <class Ready, class Visitor>
  Status wait(std::chrono::nanoseconds most, const Ready& ready, const Visitor& take);
  void pass_stop_on();
  Status meets(const RankCommand& command) const;
  void break_off(const std::string& why);

  const Options options_;
  MemoryBudget budget_;
  MemoryBudget received_;
  BufferPool buffers_;
  Schema schema_;
  bool told_stop_ = false;
  Synchronized<Inbox> inbox_;
  StatePeer state_;
  std::unique_ptr<RankLink> link_;  // goes first: its thread uses the others
};

}  // namespace forebay
