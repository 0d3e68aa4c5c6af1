#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
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

/// Rank 0's node: divides the rows of each global batch among the ranks and sends the commands.
///
/// It is the BatchSource of rank 0's own slices. It pulls global batches one ahead from their
/// source, so that the other ranks have their slice of the next batch while they train on this one;
/// it holds back a slice for a rank without credits. Slices without a step command are not trained
/// on. Owns the link and the slices. Call open() before the model is made, accept() once the job is
/// open, end() always. One thread, the model's, calls all functions.
class RankLeader final : public BatchSource, RankListener {
 public:
  static Result<std::unique_ptr<RankLeader>> open(const RankOptions& options, const Clock& clock);
  ~RankLeader() override;

  const std::string& address() const { return address_; }

  /// Waits until every other rank has connected. Fails with the rank's number if a connected rank
  /// is lost (kUnavailable), if a rank does not connect within the timeout (kTimeout), and if a
  /// rank's `alike` differs from rank 0's (kInvalid). Also fails when `stop` is set.
  Status wait_for_ranks(const std::atomic<bool>& stop);
  /// Fails with the rank's number once a rank is lost.
  Status check_ranks();

  /// Sends the schema to all ranks, which then make their models.
  Status accept(const Schema& schema);
  /// Waits until every other rank has executed its last command; fails with the reason of the first
  /// rank that failed.
  Status wait_until_ready();

  /// Sets the source of global batches, which outlives the calls of next().
  void feed(BatchSource& batches) { batches_ = &batches; }
  /// Returns the rows of rank 0.
  Result<std::shared_ptr<const Batch>> next() override;

  /// Commands all ranks. With `has_ids`, tell_ids() has sent the batch's ids to every other rank.
  void command(const RankCommand& command) { tell_all(command); }
  /// Sends a rank the ids of its rows that a batch will need. Any thread, as the functions below.
  void tell_ids(int rank, const Batch& ids);
  /// Copies the ids for rank 0's own model.
  std::shared_ptr<const Batch> copy_of(const Batch& ids) { return copy_ids(ids, buffers_); }
  /// Commands all ranks to drop ids of batches that will not be trained.
  void forget_ids() { tell_all(ForgetIds{}); }
  int size() const { return options_.size; }
  /// Takes snapshots of every other rank's state, which are read remotely. One call at a time.
  Result<std::vector<std::unique_ptr<StateSource>>> snapshots();

  /// Returns `error`, or the loss of a rank if another rank did not take part; waits until the loss
  /// is detected.
  Error explain(Error error);

  /// When a rank is lost, informs the other ranks and aborts all operations of `ranks`. `ranks`
  /// outlives the link, which this object owns.
  void breaks(Collective& ranks);

  /// Opens the state to restore; a new source for each rank.
  using OpenState = std::function<Result<std::unique_ptr<StateSource>>()>;
  /// Commands every other rank to restore its part of the state that `open` opens. Returns when
  /// they have begun; wait_until_ready() returns the result.
  Status restore(const OpenState& open);

  /// Sends the end of the run and its result to all ranks, and waits at most two seconds until they
  /// have disconnected. Only the first call counts.
  void end(const Status& how, int signal = 0);

  /// Returns the most bytes of slices that it holds if a global batch has `batch_bytes`.
  static std::uint64_t bytes_for(std::uint64_t batch_bytes) { return 3 * batch_bytes; }

 private:
  struct Peer {
    bool here = false;  // has connected; may be lost since
    bool differs = false;
    bool lost = false;
    bool failed = false;  // and reported why
    std::string why;
    std::uint64_t credits = RankCredit::kAtFirst;
    std::deque<BatchSlice> waiting;
    std::optional<Result<void>> ready;
    std::optional<Result<std::vector<StateTensor>>> state;
  };
  struct Peers {
    std::vector<Peer> by_rank;    // the entry of rank 0 is unused
    Collective* ranks = nullptr;  // aborted when a rank is lost
    bool meeting = false;         // true until all have met
    bool ended = false;           // a rank that disconnects afterwards is not lost
    std::string lost() const;     // which and why; "": none
    std::string not_here() const;
    std::string different() const;
    const char* what_to_do() const;
  };

  explicit RankLeader(RankOptions options);

  void on_hello(int rank, const RankHello& hello) override;
  void on_message(int rank, RankMessage message) override;
  void on_lost(int rank, const std::string& why) override;
  void on_credit(int rank, std::uint64_t slices);
  void on_failed(int rank, const Error& why);
  void break_off();
  Status pull();
  void deal(const Batch& batch);
  void tell_all(const RankMessage& message);
  /// Waits until every rank has sent this answer, or a rank is lost.
  template <class Answer>
  Result<std::vector<Answer>> wait_for(std::optional<Answer> Peer::*member,
                                       std::chrono::nanoseconds most);

  const RankOptions options_;
  MemoryBudget budget_;
  MemoryBudget received_;
  BufferPool buffers_;
  std::string address_;
  Synchronized<Peers> peers_;
  std::vector<std::unique_ptr<StatePeer>> states_;  // the entry of rank 0 is unused
  BatchSource* batches_ = nullptr;
  std::deque<std::shared_ptr<const Batch>> own_;
  bool reached_end_ = false;
  Status failed_;
  std::unique_ptr<RankLink> link_;  // destroyed first: its thread uses the others
};

}  // namespace forebay
