#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/reorder_buffer.h"
#include "core/data/batch.h"
#include "core/data/buffer_pool.h"
#include "scheduler/client/split_client.h"
#include "scheduler/protocol.h"

namespace forebay::scheduler {

/// A made-up dataset and how it is trained on: split i of an epoch has some rows that carry their
/// own numbers, so that every node makes the same split.
struct SimJob {
  std::uint64_t splits = 10;  ///< In an epoch.
  std::uint64_t epochs = 2;
  std::uint64_t batch_size = 8;
  std::uint64_t window = 4;  ///< Splits that may be issued and not used.
  OrderSpec::Mode mode = OrderSpec::Mode::kExact;

  static std::uint64_t rows_in(std::uint64_t index) { return index * 7 % 11; }
  std::uint64_t first_row(std::uint64_t index) const;
  std::uint64_t rows() const { return first_row(splits); }
  OrderSpec order() const;
  JobShare share() const;
  Split split(std::uint64_t number, BufferPool& pool) const;
  Frames frames(std::uint64_t number, BufferPool& pool) const;
  /// The digest of all batches of a run without a cluster.
  Digest digest() const;
};

/// The rows that were handed to a trainer; a checkpoint keeps this.
struct Handed {
  Position position;
  std::vector<std::uint32_t> times;  ///< By row of the dataset.
};

/// The trainer's side of a run: issues splits as the window has room, takes them in any order, and
/// hands out batches. The real ReorderBuffer does the work. The first violation is kept in
/// `broken`.
class SimPipeline final : public ArrivalSink, private BatchSink {
 public:
  SimPipeline(const SimJob& job, Handed start);

  /// The splits that have fitted into the window since the last call.
  std::vector<std::uint64_t> issue();
  Result<bool> arrived(std::uint64_t split, const std::string& worker, Frames frames) override;
  /// The same for a split of this process's own stages. False: the split is here already.
  bool made_here(std::uint64_t split);
  bool still_wanted(std::uint64_t split) const { return expected_.contains(split); }

  /// Cuts batches while few wait, as the pipeline's thread does.
  void work();
  /// Hands the next batch to the trainer, if one is there.
  bool hand_out();

  bool finished() const { return reorder_buffer_.finished() && ready_.empty() && inbox_.empty(); }
  const Handed& handed() const { return handed_; }
  std::uint64_t num_arrived() const { return num_arrived_; }
  std::string broken;

 private:
  bool emit(std::shared_ptr<const Batch> batch) override;
  void batched(const SplitId& id, bool is_last) override;
  void repeated(const std::vector<RepeatCount>&) override {}
  Status damaged(const std::vector<BadRow>&) override { return {}; }
  Error newly_damaged(const BadRow&, const std::string&) override { return {}; }
  void take(Split split);

  const SimJob job_;
  std::uint64_t num_arrived_ = 0;
  MemoryBudget budget_{1 << 26};
  BufferPool pool_{budget_};
  Handed handed_;
  ReorderBuffer reorder_buffer_;
  std::deque<std::uint64_t> queue_;    // Not issued yet.
  std::set<std::uint64_t> issued_;     // Ever.
  std::set<std::uint64_t> expected_;   // Issued, not here.
  std::deque<Split> inbox_;            // Here, not in the reorder buffer.
  std::set<std::uint64_t> in_window_;  // Issued, not used.
  std::deque<std::shared_ptr<const Batch>> ready_;
};

}  // namespace forebay::scheduler
