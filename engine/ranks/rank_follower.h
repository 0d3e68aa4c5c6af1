#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/buffer_pool.h"
#include "core/data/most_ids.h"
#include "core/data/schema.h"
#include "engine/network/network_endpoint.h"
#include "engine/ranks/rank_mailbox.h"
#include "engine/ranks/rank_options.h"
#include "engine/ranks/remote_state.h"
#include "trainer/collective.h"

namespace forebay {

/// Every rank but 0, as its model sees it: its slices of the batches and rank 0's commands.
///
/// Requests two slices ahead, and another one after each slice that was trained on. Owns the
/// network, the actor that receives rank 0's messages, and the slices' memory. One thread, the
/// model's, calls all functions.
class RankFollower {
 public:
  /// Starts to connect to rank 0.
  static Result<std::unique_ptr<RankFollower>> open(const RankOptions& options, const Clock& clock);
  ~RankFollower() { close(); }
  RankFollower(const RankFollower&) = delete;
  RankFollower& operator=(const RankFollower&) = delete;

  /// Waits until rank 0 reports that all ranks have connected. Fails with rank 0's report on
  /// missing ranks, or if rank 0 is lost or does not answer (kUnavailable, kTimeout).
  Status wait_to_meet();
  /// Fails once a rank is known to be lost.
  Status check_ranks();

  /// Waits without a limit until rank 0 has opened the job and sends the schema.
  Status wait_for_acceptance();
  const Schema& schema() const { return schema_; }
  const MostIds& most_ids() const { return most_ids_; }
  /// Answers the schema, or a command to restore: the model is made or restored.
  void ready(const Status& done) { answer({.done = done}); }
  /// Returns the state that rank 0 lets this rank read, with the tensors that the command names.
  static std::unique_ptr<StateSource> state(const RankCommand& command);

  Result<RankCommand> next_command();
  Result<std::shared_ptr<const Batch>> slice(std::uint64_t number);
  /// Sets the function that receives the ids of batches as they arrive, on an actor's thread; once.
  void tell_ids(const RankInbox::OnIds& to);
  /// Waits until the ids of this batch have been passed to it.
  Status wait_for_ids(std::uint64_t number);
  /// Stops serving the last snapshot to rank 0, so that a new one can be taken.
  void take_back() { served_.take_back(); }
  /// Answers a command to take a snapshot: lets rank 0 read it.
  void give(Result<std::unique_ptr<StateSource>> snapshot);

  /// When rank 0 or another rank is lost, aborts all operations of `ranks`. `ranks` outlives the
  /// network, which this object owns.
  void breaks(Collective& ranks);
  /// Sends this rank's error to rank 0, unless the run has ended already.
  void failed(const Error& why);

  /// Returns `error`, or rank 0's explanation if the error occurred because another rank did not
  /// take part.
  Error explain(Error error);

  /// Ends the network and releases the last snapshot. Call it before the model is destroyed.
  void close();

 private:
  explicit RankFollower(RankOptions options);
  /// Waits for `ready(inbox)`, then calls `take`; polls the stop signal meanwhile.
  template <class Ready, class Visitor>
  Status wait(std::chrono::nanoseconds most, const Ready& ready, const Visitor& take);
  Status wait_for_command(std::chrono::nanoseconds most, RankCommand& command);
  void pass_stop_on();
  Status meets(const RankCommand& command) const;
  std::string why_it_ends();
  void answer(RankDone done);
  template <Message M>
  void tell(M message);

  const RankOptions options_;
  MemoryBudget budget_;
  MemoryBudget received_;
  BufferPool buffers_;
  Schema schema_;
  MostIds most_ids_;
  bool told_stop_ = false;
  Synchronized<RankInbox> inbox_;
  ServedState served_;
  std::unique_ptr<Replier<RankDone>> answer_;  // of the last command
  std::unique_ptr<NetworkEndpoint> net_;       // destroyed first: its actors use the others
};

}  // namespace forebay
