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
#include "core/data/memory_budget.h"
#include "core/data/schema.h"
#include "core/runtime/synchronized.h"
#include "engine/ranks/rank_link.h"
#include "engine/ranks/state_peer.h"
#include "trainer/collective.h"

namespace forebay {

/// Rank 0's end: deals the rows of each global batch to the ranks and says what all do next.
///
/// A BatchSource of its own slices over the source of the global batches, which it pulls one ahead,
/// so that the others have their slice of the next one while they train on this one; it keeps a
/// slice back where a rank has no room. Slices that no order follows are not trained on. Owns the
/// link and the slices. open() before the model, accept() once the job is open, end() always. One
/// thread, the model's, calls all of it.
class RankLeader final : public BatchSource, RankListener {
 public:
  struct Options {
    int size = 2;
    std::string group;
    std::string keys;        ///< As `cluster.keys`.
    std::string alike = {};  ///< What has to be the same on all ranks.
    std::string listen;      ///< HOST:0
    std::chrono::nanoseconds timeout = std::chrono::seconds(30);
    std::function<void(int signal)> on_stop;  ///< A rank was asked to stop. On the link's thread.
    std::function<void(const std::string&)> say = {};  ///< Gets a sentence for the user.
  };

  static Result<std::unique_ptr<RankLeader>> open(const Options& options, const Clock& clock);
  ~RankLeader() override;

  const std::string& address() const { return address_; }

  /// Returns when every other rank has come. Fails with the rank's number when one of those that
  /// had come is lost (kUnavailable), when one does not come within the timeout (kTimeout), and
  /// where one differs from rank 0 in what has to be the same (kInvalid); also when `stop` is set.
  Status wait_for_ranks(const std::atomic<bool>& stop);
  /// Fails once a rank is lost, with its number.
  Status check_ranks();

  /// Tells all ranks what to make.
  Status accept(const Schema& schema);
  /// Returns when every other rank has done what it was told; fails with the reason of the first
  /// that does not.
  Status wait_until_ready();

  /// The source of global batches, which outlives the calls of next().
  void feed(BatchSource& batches) { batches_ = &batches; }
  /// The rows of rank 0.
  Result<std::shared_ptr<const Batch>> next() override;

  void command(RankCommand::Kind kind, std::uint64_t number = 0);
  /// All train on the rows of this batch; `has_ids`: tell_ids told every other rank of it.
  void command_step(std::uint64_t number, bool has_ids);
  /// Tells a rank which of its rows a batch will want. Any thread, as below.
  void tell_ids(int rank, const Batch& ids);
  /// The same for rank 0's own model.
  std::shared_ptr<const Batch> copy_of(const Batch& ids) { return copy_ids(ids, buffers_); }
  /// That what was told and not trained on yet never will be.
  void forget_ids() { tell_all(ForgetIds{}); }
  int size() const { return options_.size; }
  /// Every other rank's state as it stands, to be read as a snapshot is. One at a time.
  Result<std::vector<std::unique_ptr<StateSource>>> snapshots();

  /// The same error; where another rank did not take part, with the rank that was lost, as soon as
  /// that is known.
  Error explain(Error error);

  /// As soon as a rank is lost the others are told, and whoever waits in an operation of `ranks`
  /// waits no longer. It outlives the link, which goes with this.
  void breaks(Collective& ranks);

  /// Where a state to go on from is read; a new source for each rank.
  using OpenState = std::function<Result<std::unique_ptr<StateSource>>()>;
  /// Has every other rank go on from its part of a state, which `open` opens; they begin, and
  /// wait_until_ready says how it went.
  Status restore(const OpenState& open);

  /// Tells all that it is over, and how, and waits until they were told. Once.
  void end(const Status& how, int signal = 0);

  /// Bytes of slices that it holds at most, where a global batch has so many.
  static std::uint64_t bytes_for(std::uint64_t batch_bytes) { return 3 * batch_bytes; }
  std::uint64_t buffer_bytes() const { return budget_.used(); }

 private:
  struct Peer {
    bool here = false;  // has come; it may be lost since
    bool differs = false;
    bool lost = false;
    bool failed = false;  // and said why
    std::string why;
    std::uint64_t credits = RankCredit::kAtFirst;
    std::deque<BatchSlice> waiting;
    std::optional<Result<void>> ready;
    std::optional<Result<std::vector<StateTensor>>> state;
  };
  struct Peers {
    std::vector<Peer> by_rank;    // the first is nobody
    Collective* ranks = nullptr;  // what a loss breaks
    bool meeting = false;         // until all have met
    bool ended = false;           // so that nobody who goes is lost
    bool any_lost() const;
    std::string lost() const;
    std::string not_here() const;
    std::string different() const;
    const char* what_to_do() const;
  };

  explicit RankLeader(Options options);

  void on_hello(int rank, const RankHello& hello) override;
  void on_message(int rank, RankMessage message) override;
  void on_lost(int rank, const std::string& why) override;
  void on_credit(int rank, std::uint64_t slices);
  void on_failed(int rank, const Error& why);
  void break_off();
  Status pull();
  void deal(const Batch& batch);
  void tell_all(const RankMessage& message);
  /// Waits until every rank has one of these, or one is lost.
  template <class Answer>
  Result<std::vector<Answer>> wait_for(std::optional<Answer> Peer::*member,
                                       std::chrono::nanoseconds most);

  const Options options_;
  MemoryBudget budget_;
  MemoryBudget received_;
  BufferPool buffers_;
  std::string address_;
  Synchronized<Peers> peers_;
  std::vector<std::unique_ptr<StatePeer>> states_;  // the first is nobody
  BatchSource* batches_ = nullptr;
  std::deque<std::shared_ptr<const Batch>> own_;
  bool reached_end_ = false;
  Status failed_;
  std::unique_ptr<RankLink> link_;  // goes first: its thread uses the others
};

}  // namespace forebay
