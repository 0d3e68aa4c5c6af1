#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

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

}  // namespace forebay
