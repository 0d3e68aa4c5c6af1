#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/buffer_pool.h"
#include "core/data/most_ids.h"
#include "core/data/schema.h"
#include "engine/network/network_endpoint.h"
#include "engine/ranks/rank_group.h"
#include "engine/ranks/rank_options.h"
#include "trainer/collective.h"
#include "trainer/model.h"

namespace forebay {

/// Rank 0, as its model sees it: divides the rows of each global batch among the ranks and sends
/// the commands.
///
/// It is the BatchSource of rank 0's own slices. It pulls global batches one ahead from their
/// source, so that the other ranks have their slice of the next batch while they train on this one;
/// it holds back a slice for a rank without credits. Slices without a step command are not trained
/// on. Owns the network, the actors that receive the ranks' messages, and the slices. Call open()
/// and wait_for_ranks() before the model is made, accept() once the job is open, end() always. One
/// thread, the model's, calls all functions.
class RankLeader final : public BatchSource {
 public:
  static Result<std::unique_ptr<RankLeader>> open(const RankOptions& options, const Clock& clock);
  ~RankLeader() override;

  const std::string& address() const { return address_; }

  /// Waits until every other rank has connected. Fails with the rank's number if a connected rank
  /// is lost (kUnavailable), if a rank does not connect within the timeout (kTimeout), and if a
  /// rank's `alike` differs from rank 0's (kInvalid). Also fails when `stop` is set.
  Status wait_for_ranks(const std::atomic<bool>& stop) { return group_.wait_for_ranks(stop); }
  /// Fails with the rank's number once a rank is lost.
  Status check_ranks() const { return group_.check_ranks(); }

  /// Sends the schema to all ranks, which have connected and now make their models.
  void accept(const Schema& schema, const MostIds& ids);
  /// Waits until every other rank has made or restored its model; fails with the reason of the
  /// first rank that failed.
  Status wait_until_ready();

  /// Sets the source of global batches, which outlives the calls of next().
  void feed(BatchSource& batches) { batches_ = &batches; }
  /// Returns the rows of rank 0.
  Result<std::shared_ptr<const Batch>> next() override;

  /// Commands all ranks. With `has_ids`, tell_ids() has sent the batch's ids to every other rank.
  void command(const RankCommand& command) { group_.tell_all(command); }
  /// Sends a rank the ids of its rows that a batch will need. Any thread, as the functions below.
  void tell_ids(int rank, const Batch& ids);
  /// Copies the ids for rank 0's own model.
  std::shared_ptr<const Batch> copy_of(const Batch& ids) { return copy_ids(ids, buffers_); }
  /// Commands all ranks to drop ids of batches that will not be trained.
  void forget_ids();
  int size() const { return options_.size; }
  /// Takes snapshots of every other rank's state, which are read remotely. One call at a time.
  Result<std::vector<std::unique_ptr<StateSource>>> snapshots();

  /// Returns `error`, or the loss of a rank if another rank did not take part; waits until the loss
  /// is detected.
  Error explain(Error error) const { return group_.explain(std::move(error)); }

  /// When a rank is lost, informs the other ranks and aborts all operations of `ranks`. `ranks`
  /// outlives the network, which this object owns.
  void breaks(Collective& ranks) { group_.breaks(ranks); }

  /// Opens the state to restore; a new source for each rank.
  using OpenState = std::function<Result<std::unique_ptr<StateSource>>()>;
  /// Commands every other rank to restore its part of the state that `open` opens. Returns when
  /// they have begun; wait_until_ready() returns the result.
  Status restore(const OpenState& open);

  /// Sends the end of the run and its result to all ranks, and waits at most two seconds until they
  /// have disconnected. Only the first call counts.
  void end(const Status& how, int signal = 0) { group_.end(how, signal); }

  /// Returns the most bytes of slices that it holds if a global batch has `batch_bytes`.
  static std::uint64_t bytes_for(std::uint64_t batch_bytes) { return 3 * batch_bytes; }

 private:
  explicit RankLeader(RankOptions options);
  Status pull();
  void deal(const Batch& batch);

  const RankOptions options_;
  MemoryBudget budget_;
  MemoryBudget received_;
  BufferPool buffers_;
  std::string address_;
  RankGroup group_{options_};
  BatchSource* batches_ = nullptr;
  std::deque<std::shared_ptr<const Batch>> own_;
  bool reached_end_ = false;
  Status failed_;
  std::unique_ptr<NetworkEndpoint> net_;  // destroyed first: its actors use the others
};

}  // namespace forebay
