#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/runtime/ask.h"
#include "core/runtime/own_threads.h"
#include "core/runtime/synchronized.h"
#include "trainer/embedding/batch_rows.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/model.h"
#include "trainer/table_tiers.h"

namespace forebay {

/// Prepares the rows of prefetched batches by an actor on a thread of its own, in their order,
/// while the model steps on earlier batches (Agarwal et al., "Bagpipe", SOSP'23).
///
/// For a storage that does not look ahead the actor only finds the distinct rows; they get their
/// slots in the step. If the storage has no free slots, the actor waits for the message that the
/// model has finished a batch. prefetch() may be called by any thread; all other methods by the
/// model's. A batch is held until its rows are known. A batch that was not prefetched is prepared
/// when the model steps on it; prefetched batches that are skipped are dropped. The storage
/// outlives it.
///
/// If the actor crashes, the state of rows and slots is not known: it is not restarted, and every
/// further call of begin() and while_still() returns an error.
class LookAhead {
 public:
  /// Each batch is divided into `shares` shares of BatchRows. With a `team`, which must outlive it,
  /// its threads find a batch's rows together.
  explicit LookAhead(TableStorage& storage, std::size_t shares, ThreadTeam* team = nullptr);
  LookAhead(const LookAhead&) = delete;
  LookAhead& operator=(const LookAhead&) = delete;

  /// Announces a batch; nullptr calls forget().
  void prefetch(std::shared_ptr<const Batch> batch);

  /// Returns the rows of the batch that the model steps on or scores now; valid until end().
  Result<const BatchRows*> begin(const Batch& batch,
                                 TableStorage::Use use = TableStorage::Use::kTrain);
  void end();

  /// Cancels all prefetched batches that were not stepped on.
  void forget();

  LookupCounts lookups() const { return lookups_; }

  /// As of the last batch that the model began.
  const std::vector<TableTiers>& tiers() const { return tiers_; }

  /// Calls `work`, which returns a Result, while no batch is being prepared, so that it may inspect
  /// the storage.
  template <class Work>
  auto while_still(const Work& work) {
    return tables_.use([&] {
      storage_.finish(finished_);
      return work();
    });
  }

 private:
  /// Lets threads use something one at a time. If a use throws, the thing is in an unknown state,
  /// and every further use is refused.
  class Uses {
   public:
    template <class Work>
    auto use(const Work& work) {
      return one_at_a_time_([&]() -> decltype(work()) {
        if (torn_) return fail(Code::kUnavailable, kFailed);
        torn_ = true;
        auto result = work();
        torn_ = false;
        return result;
      });
    }

   private:
    const Synchronized<> one_at_a_time_{};
    bool torn_ = false;
  };

  struct Prepare;
  struct TurnEnded;
  struct Settle;
  class Preparing;
  /// The actor's answer to a batch.
  struct Prepared {
    std::unique_ptr<BatchRows> rows;
    std::vector<TableTiers> tiers;  ///< Empty if the step places the rows.
  };
  using PreparedPtr = std::unique_ptr<Prepared>;
  /// A batch that was announced. `batch` only identifies it; the batch may be destroyed.
  struct Asked {
    const Batch* batch = nullptr;
    std::uint64_t number = 0;
    std::uint64_t turn = 0;
    Answer<PreparedPtr> answer;
  };

  static constexpr const char* kFailed = "looking ahead failed";

  Status find(const Batch& batch, BatchRows& rows) {
    return finding_.use([&] { return finder_.find(batch, share_rows(batch), rows); });
  }
  Status complete(BatchRows& rows, std::uint64_t turn);
  std::size_t share_rows(const Batch& batch) const {
    return std::max<std::size_t>((batch.rows + shares_ - 1) / shares_, 1);
  }
  /// Ends the turns before this batch's; returns nothing if the batch was not announced.
  std::optional<Asked> take_asked(const Batch& batch);
  /// Ends turns up to this one: their slots are free, and `spare` can be used again.
  void end_turns(std::uint64_t turn, std::unique_ptr<BatchRows> spare);
  Result<const BatchRows*> borrow(const Batch& batch, TableStorage::Use use);
  void give_back();
  /// The error of a batch: its own, or the actor's crash.
  Error failure(Error answer) const;

  TableStorage& storage_;
  const std::size_t shares_;

  Uses tables_;  ///< Of the storage and the two below.
  BatchRows borrowed_;
  bool lent_ = false;
  Uses finding_;  ///< Of the finder; begun within a use of the tables, or alone.
  RowFinder finder_;
  std::atomic<std::uint64_t> finished_{0};  ///< Turns up to this one ended or were cancelled.
  mutable Synchronized<std::string> crash_;

  const Synchronized<> asking_{};  ///< Guards the two below.
  std::deque<Asked> asked_;
  std::uint64_t turns_ = 0;  ///< Number of turns assigned.

  std::unique_ptr<BatchRows> now_;  ///< Of the current step; null: borrowed.
  std::uint64_t turn_ = 0;          ///< Of the current step.
  LookupCounts lookups_;
  std::vector<TableTiers> tiers_;

  SystemClock clock_;
  OwnThreads threads_;  ///< Destroyed first: the actor uses all of the above.
  ActorRef<Prepare, TurnEnded, Settle> actor_;
};

}  // namespace forebay
