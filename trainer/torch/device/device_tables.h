#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "trainer/embedding/slot_metadata.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/torch/device/tape_optimizer.h"
#include "trainer/torch/device/transfer.h"

namespace forebay {

/// Tables whose rows are on a device while batches need them, and stay there while they are needed
/// often; all rows are in another storage, on the host.
///
/// A prepared batch is copied to the device, with those of its rows that are not there, in one copy
/// that overlaps with computation. Rows that a step changed are copied back to the host in the same
/// way, and written to the other storage when the batch's turn is finished. So that storage always
/// holds the result of the finished steps, its snapshots are right without the device, and it may
/// move its rows freely. A row on the device is never older than on the host: it is changed only
/// there, and fetched again after the host refilled its slot.
class DeviceTables final : public TableStorage {
 public:
  /// The most batches on the device at a time, including the one that is stepped on; one more may
  /// be out of turn.
  static constexpr std::size_t kStaged = kMostStagedBatches;

  /// `slots`: rows on the device, at most as many as on the host; `lanes` outlives it, and so
  /// does `team`, whose threads copy on the host.
  DeviceTables(std::unique_ptr<TableStorage> host, const TableLayout& layout, std::uint64_t slots,
               DeviceLanes& lanes, ThreadTeam& team);

  std::vector<std::int64_t> folds() const override { return host_->folds(); }
  RowArena& arena(std::size_t feature) override { return host_->arena(feature); }
  bool looks_ahead() const override { return host_->looks_ahead(); }
  /// Of the host: rows on the device have a slot there, too.
  std::vector<TableTiers> tiers() const override { return host_->tiers(); }
  Status prepare(BatchRows& rows, std::uint64_t turn) override;
  void finish(std::uint64_t turn) override;
  Status borrow(BatchRows& rows, Use use) override;
  void give_back(const BatchRows& rows) override;
  Result<std::unique_ptr<StateSource>> snapshot(std::vector<MemoryTensor> others) override {
    if (!broken_) return tl::unexpected<Error>(broken_.error());
    return host_->snapshot(std::move(others));
  }
  Status restore(StateSource& from, std::vector<MemoryTensor> others) override;

  /// Returns the batch of `rows` on the device; work that is queued from now on sees it there, with
  /// its rows. Called by the thread that steps, as are those below.
  StagedBatch on_device(const BatchRows& rows);
  /// The tensors that the optimizer updates: rows by slot.
  at::Tensor& weights() { return weights_; }
  std::vector<Moment>& moments() { return moments_; }
  /// Announces that the step has changed the rows of that batch.
  void changed(const BatchRows& rows);

 private:
  /// A batch being sent, on the device, or being copied back.
  struct Staged {
    std::uint64_t turn = 0;  ///< Free once this turn is finished.
    StagedExtents extents;
    at::Tensor host, device;           ///< kByte; they grow.
    std::unique_ptr<LaneMark> copied;  ///< To the device, with its rows in their slots.
    std::unique_ptr<LaneMark> used;    ///< The last work with it.
    bool changed = false;
    at::Tensor after;  ///< Its rows after the step, on the device.
    at::Tensor home;   ///< The same in host memory, float; grows.
    std::unique_ptr<LaneMark> came_home;
    std::vector<std::size_t> first_row;    ///< As in BatchRows.
    std::vector<std::int32_t> host_slots;  ///< As `slots` in BatchRows.
  };

  void for_pieces(const std::vector<std::size_t>& first_row,
                  const std::function<void(std::size_t, std::size_t, std::size_t)>& body);
  void want(const BatchRows& rows);
  Status stage(BatchRows& rows, std::size_t mark);
  void make_room(Staged& staged);
  void write(const BatchRows& rows, const StagedBatch& to);
  void write_fetched(const BatchRows& rows, std::size_t begin, std::size_t end,
                     const StagedBatch& to) const;
  void look_up(const RowArena& arena, std::size_t slot) const;
  void send(Staged& staged);
  void release(Staged& staged);
  void write_home(const Staged& staged);
  Status no_room(const BatchRows& rows) const;

  const std::unique_ptr<TableStorage> host_;
  const std::size_t width_;
  const std::size_t state_width_;
  DeviceLanes& lanes_;
  ThreadTeam& team_;
  std::vector<std::uint64_t> first_number_;  ///< Per feature: the number of its arena's first row.
  SlotCache cache_;
  at::Tensor weights_;
  std::vector<Moment> moments_;
  std::array<Staged, kStaged + 1> staged_;  ///< The last is for batches out of turn.
  std::uint64_t finished_ = 0;
  std::uint64_t host_prepared_ = 0;  ///< The latest turn for which the host has slots.
  Status broken_;

  // Temporaries of one call, kept to reuse their memory.
  std::vector<SlotCache::Row> wanted_;
  std::vector<std::int32_t> slots_;
  std::vector<std::uint32_t> missing_;
};

}  // namespace forebay
