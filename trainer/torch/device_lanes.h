#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

namespace forebay {

/// Orders of work on a device: work of one lane is done in the order in which it was queued, work
/// of several at the same time, unless a mark is waited for.
enum class DeviceLane : std::uint8_t {
  kCompute,  ///< What operators that are called outside of run() go to.
  kIn,       ///< Copies from the host,
  kOut,      ///< and to it.
};

/// A place in a lane. Belongs to one thread at a time.
class LaneMark {
 public:
  virtual ~LaneMark() = default;
  /// What is queued in `lane` from now on is done after what was queued before the mark. Returns
  /// at once.
  virtual void block(DeviceLane lane) = 0;
  /// Returns once all that was queued before the mark is done.
  virtual void wait() = 0;
};

/// The few things that a model does with a device beside calling operators on tensors that lie
/// there. This is all that differs between devices; any number of threads may call it.
class DeviceLanes {
 public:
  virtual ~DeviceLanes() = default;

  virtual at::Device device() const = 0;
  /// Memory of the host, kByte [bytes], that copies without the host's help go from and to.
  virtual at::Tensor host_memory(std::int64_t bytes) const = 0;
  /// Queues the operators that `work` calls, in kIn or kOut. It may be called now or later, once,
  /// on any thread, before a mark behind it was waited for; gradients are not recorded in it.
  virtual void run(DeviceLane lane, std::function<void()> work) = 0;
  virtual std::unique_ptr<LaneMark> mark(DeviceLane lane) = 0;
};

/// Streams and events of whatever device libtorch was built for; throws what libtorch does where
/// it was not. Copies from and to the host are page-locked where the device is of kind cuda.
std::unique_ptr<DeviceLanes> make_stream_lanes(at::Device device);

/// The same for the cpu, where nothing runs by itself: work of kIn and kOut is put off until a mark
/// behind it is waited for, by whoever does. So what would be a race on a device is a wrong value.
std::unique_ptr<DeviceLanes> make_deferred_lanes();

/// Whichever the device is for.
std::unique_ptr<DeviceLanes> make_lanes(at::Device device);

}  // namespace forebay
