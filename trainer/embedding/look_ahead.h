#pragma once

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

namespace forebay {

/// Prepares the rows of batches on a thread of its own, in the order in which they were expected,
/// while the model steps on earlier ones (Agarwal et al., "Bagpipe", SOSP'23).
///
/// Of a storage that does not look ahead it finds the distinct rows alone; they get their slots in
/// the step. Where the storage has no room it goes on once the model has finished a batch.
/// prefetch() may be called by any thread; all else by the model's. A batch is held until its rows
/// are known. One that is stepped on without having been expected is prepared there and then;
/// expected ones that are passed over are dropped. The storage outlives it.
class LookAhead {
 public:
  /// `share_rows`: how many rows of a batch make a share of BatchRows.
  explicit LookAhead(TableStorage& storage, std::size_t shares);
  ~LookAhead();
  LookAhead(const LookAhead&) = delete;
  LookAhead& operator=(const LookAhead&) = delete;

  /// nullptr: forget().
  void prefetch(std::shared_ptr<const Batch> batch);

  /// The rows of the batch that is stepped on now; valid until end().
  Result<const BatchRows*> begin(const Batch& batch);
  /// The batch of begin() was stepped on.
  void end();

  /// The rows of a batch that is only scored; valid until given_back().
  Result<const BatchRows*> begin_scoring(const Batch& batch);
  void end_scoring();

  /// Lets go of what was expected and not stepped on.
  void forget();

  LookupCounts lookups() const;

  /// Calls `work` while nothing is prepared, so that the storage can be looked at.
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
  /// A batch with its rows; the address tells it from others, it may be gone.
  struct Prepared {
    const Batch* batch = nullptr;
    std::uint64_t number = 0;
    std::uint64_t turn = 0;
    std::unique_ptr<BatchRows> rows;
    Status status;
  };

  void run();
  Prepared prepare(const Expected& expected);
  Status find(const Batch& batch, BatchRows& rows);
  Status complete(BatchRows& rows, std::uint64_t turn);
  Status place(BatchRows& rows, std::uint64_t turn);
  std::uint64_t finished() const;
  std::size_t share_rows(const Batch& batch) const;
  /// With the mutex: the turn that this batch was expected for, or 0.
  std::uint64_t turn_of(const Batch& batch) const;
  void pass_over(std::uint64_t turn);
  Result<const BatchRows*> borrow(const Batch& batch, TableStorage::Use use);
  std::unique_ptr<BatchRows> spare();

  TableStorage& storage_;
  const std::size_t shares_;

  std::mutex storage_mutex_;  ///< Who holds it may call the storage.
  BatchRows borrowed_;
  std::mutex finder_mutex_;  ///< Of the finder; taken after the storage's.
  RowFinder finder_;

  mutable std::mutex mutex_;  ///< Of all below; taken after those.
  std::condition_variable changed_;
  std::deque<Expected> expected_;
  Expected preparing_;  ///< Turn 0: nothing.
  std::deque<Prepared> ready_;
  std::vector<std::unique_ptr<BatchRows>> spares_;
  Prepared now_;             ///< What the model steps on; turn 0: borrowed.
  std::uint64_t turns_ = 0;  ///< Given out.
  std::uint64_t finished_ = 0;
  std::uint64_t given_back_ = 0;  ///< Counts, so that who waits for room sees that there is more.
  bool lent_ = false;
  LookupCounts lookups_;
  bool stop_ = false;
  std::thread thread_;  ///< From the first prefetch() on.
};

}  // namespace forebay
