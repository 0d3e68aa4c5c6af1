#include "trainer/torch/device/transfer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

#include <ATen/ops/empty.h>
#include <c10/core/Event.h>
#include <c10/core/GradMode.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "trainer/torch/libtorch.h"

namespace forebay {
namespace {

class StreamLanes final : public DeviceLanes {
 public:
  explicit StreamLanes(at::Device device)
      : impl_(device.type()),
        device_(device.has_index() ? device : impl_.getDevice()),
        in_(impl_.getStreamFromGlobalPool(device_)),
        out_(impl_.getStreamFromGlobalPool(device_)),
        waiting_(impl_.getStreamFromGlobalPool(device_)) {}

  at::Device device() const override { return device_; }

  at::Tensor host_memory(std::int64_t bytes) const override {
    return at::empty({bytes}, at::TensorOptions(at::kByte).pinned_memory(device_.is_cuda()));
  }

  void run(DeviceLane lane, std::function<void()> work) override {
    const c10::AutoGradMode off(false);
    const c10::StreamGuard there(stream(lane));
    work();
  }

  std::unique_ptr<LaneMark> mark(DeviceLane lane) override {
    auto mark = std::make_unique<Mark>(*this);
    mark->event.record(stream(lane));
    return mark;
  }

 private:
  struct Mark final : LaneMark {
    explicit Mark(const StreamLanes& its) : lanes(its), event(its.device_.type()) {}
    void block(DeviceLane lane) override { event.block(lanes.stream(lane)); }
    // Blocks a dedicated stream on this event, and waits for that stream: libtorch 1.13 has no
    // other way to wait for events of all devices.
    void wait() override {
      event.block(lanes.waiting_);
      lanes.impl_.synchronizeStream(lanes.waiting_);
    }

    const StreamLanes& lanes;
    c10::Event event;
  };

  c10::Stream stream(DeviceLane lane) const {
    if (lane == DeviceLane::kCompute) return impl_.getStream(device_);
    return lane == DeviceLane::kIn ? in_ : out_;
  }

  const c10::impl::VirtualGuardImpl impl_;
  const at::Device device_;
  const c10::Stream in_;
  const c10::Stream out_;
  const c10::Stream waiting_;
};

class DeferredLanes final : public DeviceLanes {
 public:
  at::Device device() const override { return at::Device(at::kCPU); }

  at::Tensor host_memory(std::int64_t bytes) const override {
    return at::empty({bytes}, at::kByte);
  }

  void run(DeviceLane lane, std::function<void()> work) override {
    PutOff& queue = queue_of(lane);
    const std::lock_guard lock(queue.queued_mutex);
    queue.work.push_back(std::move(work));
    ++queue.queued;
  }

  std::unique_ptr<LaneMark> mark(DeviceLane lane) override {
    PutOff& queue = queue_of(lane);
    const std::lock_guard lock(queue.queued_mutex);
    return std::make_unique<Mark>(*this, queue, queue.queued);
  }

 private:
  /// The queue of kCompute is always empty.
  struct PutOff {
    std::mutex done_mutex;  ///< Of the thread that runs the work; taken first.
    std::size_t done = 0;
    std::mutex queued_mutex;  ///< Guards the rest.
    std::deque<std::function<void()>> work;
    std::size_t queued = 0;
  };

  struct Mark final : LaneMark {
    Mark(DeferredLanes& its, PutOff& lane, std::size_t at) : lanes(its), queue(lane), until(at) {}

    void block(DeviceLane lane) override {
      if (lane == DeviceLane::kCompute) return wait();
      lanes.run(lane, [&from = queue, until = until] { work_off(from, until); });
    }
    void wait() override { work_off(queue, until); }

    DeferredLanes& lanes;
    PutOff& queue;
    const std::size_t until;
  };

  static void work_off(PutOff& queue, std::size_t until) {
    const c10::AutoGradMode off(false);
    const std::lock_guard done(queue.done_mutex);
    while (queue.done < until) {
      ++queue.done;
      std::unique_lock lock(queue.queued_mutex);
      const std::function<void()> work = std::move(queue.work.front());
      queue.work.pop_front();
      lock.unlock();
      work();
    }
  }

  PutOff& queue_of(DeviceLane lane) { return queues_[static_cast<std::size_t>(lane)]; }

  std::array<PutOff, 3> queues_;
};

constexpr std::int64_t kAligned = 64;
/// Rows of a part whose dense values, labels and weights are written at a time.
constexpr std::size_t kPieceRows = 4096;

/// Allocates memory from the front of `bytes`.
class Sections {
 public:
  /// `bytes` may be undefined if only the total size is wanted.
  explicit Sections(const at::Tensor& bytes) : bytes_(bytes) {}

  at::Tensor next(at::ScalarType type, std::initializer_list<std::int64_t> shape) {
    std::int64_t size = 4;  // Of a value of either type.
    for (const std::int64_t extent : shape) size *= extent;
    const std::int64_t at = end_;
    end_ += (size + kAligned - 1) / kAligned * kAligned;
    if (!bytes_.defined()) return {};
    return bytes_.narrow(0, at, size).view(type).view(shape);
  }
  std::int64_t end() const { return end_; }

 private:
  const at::Tensor bytes_;
  std::int64_t end_ = 0;
};

StagedBatch lay_out(Sections& sections, const StagedExtents& extents) {
  StagedBatch batch;
  batch.dense = sections.next(at::kFloat, {extents.rows, extents.dense});
  batch.labels = sections.next(at::kFloat, {extents.rows});
  batch.offsets = sections.next(at::kInt, {extents.bags + 1});
  if (extents.shares) batch.bags = sections.next(at::kInt, {extents.rows, extents.sparse});
  batch.places = sections.next(at::kInt, {extents.ids});
  batch.slots = sections.next(at::kInt, {extents.touched});
  batch.fetched_slots = sections.next(at::kInt, {extents.fetched});
  batch.fetched = sections.next(at::kFloat, {extents.fetched, extents.row_size});
  if (extents.weighted) batch.weights = sections.next(at::kFloat, {extents.rows});
  return batch;
}

/// The bags of the features before this one.
std::size_t first_bag(const Batch& batch, const BatchRows& rows, std::size_t feature) {
  std::size_t bags = 0;
  for (std::size_t before = 0; before < feature; ++before) {
    const BatchRepeats* repeats = rows.repeats_of(batch, before);
    bags += repeats == nullptr ? batch.rows : repeats->unique;
  }
  return bags;
}

/// Writes where the bags of a feature begin, and which one each row has.
void write_bags(const Batch& batch, const BatchRows& rows, const StagedBatch& to,
                std::size_t feature) {
  const BatchRepeats* repeats = rows.repeats_of(batch, feature);
  const std::int32_t* lengths = batch.lengths + feature * batch.rows;
  const std::size_t first = first_bag(batch, rows, feature);
  const std::size_t count = repeats == nullptr ? batch.rows : repeats->unique;
  const std::span<std::int32_t> offsets = values_of<std::int32_t>(to.offsets);
  auto id = static_cast<std::int32_t>(rows.first_id[feature]);
  for (std::size_t bag = 0; bag < count; ++bag) {
    offsets[first + bag] = id;
    id += lengths[repeats == nullptr ? bag : repeats->first_rows[bag]];
  }
  if (!to.bags.defined()) return;
  const std::span<std::int32_t> bags = values_of<std::int32_t>(to.bags);
  for (std::size_t row = 0; row < batch.rows; ++row) {
    const std::size_t bag = repeats == nullptr ? row : repeats->numbers[row];
    bags[row * batch.sparse_features + feature] = static_cast<std::int32_t>(first + bag);
  }
}

/// Writes the dense values, labels and weights of rows [begin, end).
void write_values(const Batch& batch, std::size_t begin, std::size_t end, const StagedBatch& to) {
  const auto copy = [&](const float* from, const at::Tensor& tensor, std::size_t width) {
    std::copy(from + begin * width, from + end * width, tensor.data_ptr<float>() + begin * width);
  };
  copy(batch.dense, to.dense, batch.dense_features);
  copy(batch.labels, to.labels, 1);
  if (batch.weights != nullptr) copy(batch.weights, to.weights, 1);
}

}  // namespace

std::unique_ptr<DeviceLanes> make_lanes(at::Device device) {
  if (device.is_cpu()) return std::make_unique<DeferredLanes>();
  return std::make_unique<StreamLanes>(device);
}

std::int64_t staged_bytes(const StagedExtents& extents) {
  Sections sections{at::Tensor()};
  lay_out(sections, extents);
  return sections.end();
}

StagedBatch staged_in(const at::Tensor& bytes, const StagedExtents& extents) {
  Sections sections(bytes);
  return lay_out(sections, extents);
}

StagedExtents extents_of(const Batch& batch, const BatchRows& rows) {
  return {
      .rows = static_cast<std::int64_t>(batch.rows),
      .dense = static_cast<std::int64_t>(batch.dense_features),
      .sparse = static_cast<std::int64_t>(batch.sparse_features),
      .ids = static_cast<std::int64_t>(rows.first_id.back()),
      .bags = static_cast<std::int64_t>(first_bag(batch, rows, batch.sparse_features)),
      .shares = std::ranges::any_of(rows.repeats, [](std::int32_t entry) { return entry >= 0; }),
      .touched = static_cast<std::int64_t>(rows.num_rows()),
      .weighted = batch.weights != nullptr};
}

std::size_t staged_parts(const Batch& batch) {
  return batch.sparse_features + (batch.rows + kPieceRows - 1) / kPieceRows;
}

void write_staged(const Batch& batch, const BatchRows& rows, const StagedBatch& to,
                  std::size_t part) {
  if (part >= rows.features()) {
    const std::size_t begin = (part - rows.features()) * kPieceRows;
    if (begin == 0) {
      values_of<std::int32_t>(to.offsets).back() = static_cast<std::int32_t>(rows.first_id.back());
    }
    return write_values(batch, begin, std::min(begin + kPieceRows, batch.rows), to);
  }
  const std::size_t feature = part;
  write_bags(batch, rows, to, feature);
  const std::span<std::int32_t> places = values_of<std::int32_t>(to.places);
  const auto first = static_cast<std::int32_t>(rows.first_row[feature]);
  for (std::size_t at = rows.first_id[feature]; at < rows.first_id[feature + 1]; ++at) {
    places[at] = first + rows.place[at];
  }
}

}  // namespace forebay
