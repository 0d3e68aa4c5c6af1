#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/runtime/stage_pool.h"
#include "core/runtime/synchronized.h"
#include "engine/convert/output_kind.h"

namespace forebay {

/// Encodes batches on several threads and returns them in the order in which they were given.
///
/// Owns its threads and holds at most most_held() batches. Belongs to one thread; kind and clock
/// must outlive it.
class EncodePool {
 public:
  EncodePool(const OutputKind& kind, std::size_t threads, const Clock& clock);

  /// Returns the most batches that pools of so many threads hold, encoded or not.
  static std::size_t most_held(std::size_t threads) { return threads + 1; }

  /// Whether take() must be called before the next give().
  bool full() const { return waiting_.size() >= most_held(threads_); }
  bool empty() const { return waiting_.empty(); }

  void give(std::shared_ptr<const Batch> batch);
  /// Waits for the oldest batch. Requires !empty().
  Result<EncodedRows> take();
  /// Takes rows that were written back; their memory is used for other batches.
  void recycle(EncodedRows rows);

 private:
  using Slot = Synchronized<std::optional<Result<EncodedRows>>>;
  struct Task {
    std::shared_ptr<const Batch> batch;
    std::shared_ptr<Slot> slot;
    std::uint64_t key = 0;
  };
  class Worker;

  const std::size_t threads_;
  std::uint64_t given_ = 0;
  std::deque<std::shared_ptr<Slot>> waiting_;
  Synchronized<std::vector<EncodedRows>> used_;
  std::optional<Error> failed_;  // a thread could not be started
  const Synchronized<> failing_{};
  StagePool<Task> pool_;
};

}  // namespace forebay
