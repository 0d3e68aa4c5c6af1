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
#include "core/data/schema.h"
#include "core/runtime/synchronized.h"
#include "engine/ranks/rank_link.h"
#include "engine/ranks/state_peer.h"
#include "trainer/collective.h"

namespace forebay {

/// The node of every rank but 0: receives its slices of the batches and rank 0's commands.
///
/// Requests two slices ahead, and another one after each slice that was trained on. Owns the link
/// and the slices' memory. One thread, the model's, calls all functions.
class RankFollower final : RankListener {
 public:
  /// Starts to connect to rank 0.
  static Result<std::unique_ptr<RankFollower>> open(const RankOptions& options, const Clock& clock);
  ~RankFollower() override;

  /// Waits until rank 0 reports that all ranks have connected. Fails with rank 0's report on
  /// missing ranks, or if rank 0 is lost or does not answer (kUnavailable, kTimeout).
  Status wait_to_meet();
  /// Fails once a rank is known to be lost.
  Status check_ranks();

  /// Waits without a limit until rank 0 has opened the job and sends the schema.
  Status wait_for_acceptance();
  const Schema& schema() const { return schema_; }
  void ready(const Status& done);
  /// Returns the state that rank 0 lets this rank read, with the tensors that the command names.
  std::unique_ptr<StateSource> state(const RankCommand& command);

  Result<RankCommand> next_command();
  Result<std::shared_ptr<const Batch>> slice(std::uint64_t number);
  /// Sets the function that receives the ids of batches as they arrive (Model::prefetch), on the
  /// link's thread; once.
  using OnIds = std::function<void(std::shared_ptr<const Batch>)>;
  void tell_ids(const OnIds& to);
  /// Waits until the ids of this batch have been passed to it.
  Status wait_for_ids(std::uint64_t number);
  /// Stops serving the last snapshot to rank 0, so that a new one can be taken.
  void take_back() { state_.serve(nullptr); }
  /// Lets rank 0 read a snapshot.
  void give(Result<std::unique_ptr<StateSource>> snapshot);

  /// When rank 0 or another rank is lost, aborts all operations of `ranks`. `ranks` outlives the
  /// link, which this object owns.
  void breaks(Collective& ranks);
  /// Sends this rank's error to rank 0, unless the run has ended already.
  void failed(const Error& why);

  /// Returns `error`, or rank 0's explanation if the error occurred because another rank did not
  /// take part.
  Error explain(Error error);

  /// Stops processing messages. Call it before the model is destroyed.
  void close();

 private:
  struct Inbox {
    std::optional<RankAccepted> accepted;
    std::size_t features = 0;  // number of sparse features that rank 0 announced
    std::deque<RankCommand> commands;
    std::map<std::uint64_t, BatchSlice> slices;
    OnIds on_ids;
    std::vector<std::shared_ptr<const Batch>> early_ids;  // received before tell_ids()
    std::uint64_t ids_until = 0;  // one past the number of the last batch with ids
    bool over = false;            // rank 0 has ended the run and may disconnect
    std::string broken;           // why the run ends; "": it goes on
    Collective* ranks = nullptr;  // aborted when `broken` is set
  };

  explicit RankFollower(RankOptions options);
  void on_message(int rank, RankMessage message) override;
  void on_ids(const BatchIds& ids);
  void pass_on(std::shared_ptr<const Batch> ids);
  void on_lost(int rank, const std::string& why) override;
  /// Waits for `ready(inbox)`, then calls `take`; polls the stop signal meanwhile.
  template <class Ready, class Visitor>
  Status wait(std::chrono::nanoseconds most, const Ready& ready, const Visitor& take);
  void pass_stop_on();
  Status meets(const RankCommand& command) const;
  void break_off(const std::string& why);

  const RankOptions options_;
  MemoryBudget budget_;
  MemoryBudget received_;
  BufferPool buffers_;
  Schema schema_;
  bool told_stop_ = false;
  Synchronized<Inbox> inbox_;
  StatePeer state_;
  std::unique_ptr<RankLink> link_;  // destroyed first: its thread uses the others
};

}  // namespace forebay
