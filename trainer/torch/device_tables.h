#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/embedding/slot_cache.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/torch/device_lanes.h"
#include "trainer/torch/staged_batch.h"
#include "trainer/torch/tape_optimizer.h"

namespace forebay {

/// Tables whose rows lie on a device while batches need them, and stay there as long as they are
/// needed often; all of them lie in another storage, on the host.
///
/// A batch that is prepared goes to the device with those of its rows that are not there, in one
/// copy beside what the device computes. Rows that a step changed come back to the host likewise,
/// and are written to the other storage as the batch's turn is finished: so that one always holds
/// what the finished steps made, its snapshots are right without asking the device, and it may move
/// its rows as it likes. A row on the device is never older than on the host: it is changed there
/// alone, and fetched again once the host gave its place to another row.
class DeviceTables final : public TableStorage {
 public:
  /// So many batches are on the device at a time, the one that is stepped on included; and one out
  /// of turn.
  static constexpr std::size_t kStaged = kMostStagedBatches;

  /// `slots`: rows on the device, at most as many as the host has; `lanes` outlives it.
  DeviceTables(std::unique_ptr<TableStorage> host, const TableLayout& layout, std::uint64_t slots,
               DeviceLanes& lanes);

  std::vector<std::int64_t> folds() const override { return host_->folds(); }
  RowArena& arena(std::size_t feature) override { return host_->arena(feature); }
  bool looks_ahead() const override { return host_->looks_ahead(); }
  Status prepare(BatchRows& rows, std::uint64_t turn) override;
  void finish(std::uint64_t turn) override;
  Status borrow(BatchRows& rows, Use use) override;
  void give_back(const BatchRows& rows) override;
  Result<std::unique_ptr<StateSource>> snapshot(std::vector<MemoryTensor> others) override;
  Status restore(StateSource& from, std::vector<MemoryTensor> others) override;

  /// The batch of `rows` on the device: what is computed from now on finds it there, with its rows.
  /// Called by the thread that steps, as are those below.
  StagedBatch on_device(const BatchRows& rows);
  /// What the optimizer changes: rows by slot.
  at::Tensor& weights() { return weights_; }
  std::vector<Moment>& moments() { return moments_; }
  /// The rows of that batch have been changed.
  void changed(const BatchRows& rows);

  /// How many rows were copied to the device so far.
  std::uint64_t fetched() const { return fetched_; }

 private:
  /// A batch on its way, on the device, or on its way back.
  struct Staged {
    std::uint64_t turn = 0;  ///< Free once it is finished.
    StagedExtents extents;
    at::Tensor host, device;           ///< kByte; grow.
    std::unique_ptr<LaneMark> copied;  ///< To the device, with its rows where they belong.
    std::unique_ptr<LaneMark> used;    ///< Nothing computes with it any more.
    bool changed = false;
    at::Tensor after;  ///< Its rows as the step left them, on the device,
    at::Tensor home;   ///< and in the host's memory, float; grows.
    std::unique_ptr<LaneMark> came_home;
    std::vector<std::size_t> first_row;    ///< As in BatchRows.
    std::vector<std::int32_t> host_slots;  ///< Likewise.
  };

  void want(const BatchRows& rows);
  Status stage(BatchRows& rows, std::size_t mark);
  void make_room(Staged& staged);
  void write(const BatchRows& rows, const StagedBatch& to);
  void send(Staged& staged);
  void release(Staged& staged);
  void write_home(const Staged& staged);
  Status no_room(const BatchRows& rows) const;

  const std::unique_ptr<TableStorage> host_;
  const std::size_t width_;
  const std::size_t state_width_;
  DeviceLanes& lanes_;
  std::vector<std::uint64_t> first_number_;  ///< Per feature: of its arena's rows.
  SlotCache cache_;
  at::Tensor weights_;
  std::vector<Moment> moments_;
  std::array<Staged, kStaged + 1> staged_;  ///< The last is for batches out of turn.
  std::uint64_t finished_ = 0;
  std::uint64_t host_prepared_ = 0;  ///< The latest turn that the host has slots for.
  std::uint64_t fetched_ = 0;
  Status broken_;

  // Of one call, kept for their memory.
  std::vector<SlotCache::Row> wanted_;
  std::vector<std::int32_t> slots_;
  std::vector<std::uint32_t> missing_;
};

}  // namespace forebay
