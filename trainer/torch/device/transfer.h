#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include "core/data/batch.h"
#include "trainer/embedding/batch_rows.h"

namespace forebay {

/// Queues of work on a device: work of one lane runs in queue order, work of several lanes
/// concurrently, unless a mark is waited for.
enum class DeviceLane : std::uint8_t {
  kCompute,  ///< The lane of operators that are called outside of run().
  kIn,       ///< Copies from the host.
  kOut,      ///< Copies to the host.
};

/// A position in a lane. Belongs to one thread at a time.
class LaneMark {
 public:
  virtual ~LaneMark() = default;
  /// Makes later work in `lane` wait for the work queued before the mark. Returns at once.
  virtual void block(DeviceLane lane) = 0;
  /// Blocks until all work queued before the mark is done.
  virtual void wait() = 0;
};

/// The operations of a model on a device beside calling operators on tensors that are there.
/// Nothing else differs between devices; any number of threads may call it.
class DeviceLanes {
 public:
  virtual ~DeviceLanes() = default;

  virtual at::Device device() const = 0;
  /// Host memory, kByte [bytes], for asynchronous copies from and to the device.
  virtual at::Tensor host_memory(std::int64_t bytes) const = 0;
  /// Queues the operators that `work` calls, in kIn or kOut. `work` is called once, now or later,
  /// on any thread, before the wait for a mark behind it returns; gradients are not recorded in it.
  virtual void run(DeviceLane lane, std::function<void()> work) = 0;
  virtual std::unique_ptr<LaneMark> mark(DeviceLane lane) = 0;
};

/// Streams and events of any device that libtorch was built for; throws libtorch's exception for
/// other devices. Host memory is page-locked if the device is of kind cuda.
///
/// For the CPU without concurrency: work of kIn and kOut is deferred until a thread waits for a
/// mark behind it, and runs on that thread. So a race on a device becomes a wrong value here.
std::unique_ptr<DeviceLanes> make_lanes(at::Device device);

/// The extents of a batch on its way to a device.
struct StagedExtents {
  std::int64_t rows = 0;
  std::int64_t dense = 0;     ///< Features.
  std::int64_t sparse = 0;    ///< Features.
  std::int64_t ids = 0;       ///< Of all bags.
  std::int64_t bags = 0;      ///< Of all features.
  bool shares = false;        ///< Whether rows share bags.
  std::int64_t touched = 0;   ///< Rows of tables that the batch names.
  std::int64_t fetched = 0;   ///< Rows whose values are sent with it.
  std::int64_t row_size = 0;  ///< Values of each such row.
  bool weighted = false;      ///< Whether the batch's rows have weights.
};

/// A batch in one contiguous memory, so that one copy takes it to a device. Bags are its lists
/// (BatchRows), by feature, then row; rows that share a list share its bag.
struct StagedBatch {
  at::Tensor dense;    ///< float [rows, dense]
  at::Tensor labels;   ///< float [rows]
  at::Tensor offsets;  ///< int32 [bags + 1]: where each bag's ids begin; their end.
  at::Tensor bags;     ///< int32 [rows, sparse]: each row's bags; undefined if none is shared.
  at::Tensor places;   ///< int32 [ids]: the index of its row among the touched rows.
  at::Tensor slots;    ///< int32 [touched]: slots of the rows on the device.
  at::Tensor fetched_slots;  ///< int32 [fetched]: destination slots of the values in `fetched`.
  at::Tensor fetched;        ///< float [fetched, row_size]
  at::Tensor weights;        ///< float [rows]; undefined without weights.
};

/// Bytes of a batch with these extents.
std::int64_t staged_bytes(const StagedExtents& extents);

/// Returns views of `bytes`, kByte on any device, where the batch is or will be.
StagedBatch staged_in(const at::Tensor& bytes, const StagedExtents& extents);

/// Extents of a batch whose rows are known; leaves `fetched` and `row_size` at 0.
StagedExtents extents_of(const Batch& batch, const BatchRows& rows);

/// The number of parts of a batch that write_staged() writes.
std::size_t staged_parts(const Batch& batch);

/// Writes a part of the batch. All parts together are all but the slots and the fetched values. Any
/// number of threads may write different parts; `to` must be in host memory.
void write_staged(const Batch& batch, const BatchRows& rows, const StagedBatch& to,
                  std::size_t part);

}  // namespace forebay
