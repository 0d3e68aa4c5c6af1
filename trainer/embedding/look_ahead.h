#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/embedding/batch_rows.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/model.h"
#include "trainer/table_tiers.h"

namespace forebay {

/// Prepares the rows of prefetched batches on its own thread, in their order, while the model steps
/// on earlier batches (Agarwal et al., "Bagpipe", SOSP'23).
///
/// For a storage that does not look ahead it only finds the distinct rows; they get their slots in
/// the step. If the storage has no free slots it continues once the model has finished a batch.
/// prefetch() may be called by any thread; all other methods by the model's. A batch is held until
/// its rows are known. A batch that was not prefetched is prepared when the model steps on it;
/// prefetched batches that are skipped are dropped. The storage outlives it.
class LookAhead {
 public:
  /// Each batch is divided into `shares` shares of BatchRows. With a `team`, which must outlive it,
  /// its threads find a batch's rows together.
  explicit LookAhead(TableStorage& storage, std::size_t shares, ThreadTeam* team = nullptr)
      : storage_(storage), shares_(shares), finder_(storage.folds(), team) {}
  ~LookAhead();
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

  LookupCounts lookups() const {
    const std::lock_guard lock(mutex_);
    return lookups_;
  }

  /// As of the batch that was prepared last.
  std::vector<TableTiers> tiers() const {
    const std::lock_guard lock(mutex_);
    return tiers_;
  }

  /// Calls `work` while no batch is being prepared, so that it may inspect the storage.
  template <class Work>
  auto while_still(const Work& work) {
    const std::lock_guard lock(storage_mutex_);
    storage_.finish(finished());
    return work();
  }

 private:
  struct Expected {
    std::shared_ptr<const Batch> batch;
    std::uint64_t turn = 0;
  };
  /// A batch with its rows. `batch` only identifies it; the batch may be destroyed.
  struct Prepared {
    const Batch* batch = nullptr;
    std::uint64_t number = 0;
    std::uint64_t turn = 0;
    std::unique_ptr<BatchRows> rows;
    Status status;
  };

  void run();
  Prepared prepare(const Expected& expected);
  Status find(const Batch& batch, BatchRows& rows) {
    const std::lock_guard lock(finder_mutex_);
    return finder_.find(batch, share_rows(batch), rows);
  }
  Status complete(BatchRows& rows, std::uint64_t turn);
  Status place(BatchRows& rows, std::uint64_t turn);
  std::uint64_t finished() const {
    const std::lock_guard lock(mutex_);
    return finished_;
  }
  std::size_t share_rows(const Batch& batch) const {
    return std::max<std::size_t>((batch.rows + shares_ - 1) / shares_, 1);
  }
  /// Requires the mutex. Returns the turn for which this batch was prefetched, or 0.
  std::uint64_t turn_of(const Batch& batch) const;
  void pass_over(std::uint64_t turn);
  /// Requires the storage's mutex.
  void note_tiers();
  Result<const BatchRows*> borrow(const Batch& batch, TableStorage::Use use);
  void give_back();
  std::unique_ptr<BatchRows> spare();

  TableStorage& storage_;
  const std::size_t shares_;

  std::mutex storage_mutex_;  ///< Held for every call of the storage.
  BatchRows borrowed_;
  std::mutex finder_mutex_;  ///< Guards the finder; taken after the storage's.
  RowFinder finder_;

  mutable std::mutex mutex_;  ///< Guards all below; taken after the other two.
  std::condition_variable changed_;
  std::deque<Expected> expected_;
  Expected preparing_;  ///< Turn 0: no batch.
  std::deque<Prepared> ready_;
  std::vector<std::unique_ptr<BatchRows>> spares_;
  Prepared now_;             ///< The batch of the current step; turn 0: borrowed.
  std::uint64_t turns_ = 0;  ///< Number of turns assigned.
  std::uint64_t finished_ = 0;
  std::uint64_t given_back_ = 0;  ///< Calls of give_back(); wakes a thread that waits for slots.
  bool lent_ = false;
  LookupCounts lookups_;
  std::vector<TableTiers> tiers_;
  bool stop_ = false;
  std::thread thread_;  ///< Started by the first prefetch().
};

}  // namespace forebay
