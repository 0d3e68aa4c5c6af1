#include "trainer/saving/checkpoint_writer.h"

#include <utility>

#include "core/base/check.h"

namespace forebay {

CheckpointWriter::CheckpointWriter(CheckpointStore& store, const Clock& clock)
    : store_(store), clock_(clock), thread_({.name = "checkpoints"}, [this] { run(); }) {}

CheckpointWriter::~CheckpointWriter() {
  const std::lock_guard lock(mutex_);
  ends_ = given_up_ = true;
  if (reading_ != nullptr) reading_->give_up();
  changed_.notify_all();
}

bool CheckpointWriter::busy(std::chrono::nanoseconds at_most) const {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, at_most, [this] { return !in_flight_; });
}

void CheckpointWriter::begin(std::unique_ptr<StateSource> state, TrainState beside) {
  const std::lock_guard lock(mutex_);
  FOREBAY_CHECK(!in_flight_ && !ended_);
  progress_ = {};
  for (const StateTensor& tensor : state->tensors()) progress_.bytes += tensor.bytes();
  state_ = std::move(state);
  beside_ = std::move(beside);
  began_ = clock_.now();
  given_up_ = false;
  in_flight_ = true;
  changed_.notify_all();
}

std::optional<CheckpointWriter::Ended> CheckpointWriter::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(ended_, std::nullopt);
}

CheckpointWriter::Progress CheckpointWriter::progress() const {
  const std::lock_guard lock(mutex_);
  if (!in_flight_) return {};
  Progress now = progress_;
  now.taken = clock_.now() - began_;
  return now;
}

bool CheckpointWriter::sweeping(std::chrono::nanoseconds at_most) const {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, at_most, [this] { return !sweeping_; });
}

void CheckpointWriter::give_up() {
  const std::lock_guard lock(mutex_);
  given_up_ = true;
  if (reading_ != nullptr) reading_->give_up();
}

bool CheckpointWriter::go_on(std::uint64_t written) {
  const std::lock_guard lock(mutex_);
  progress_.written = written;
  return !given_up_;
}

void CheckpointWriter::run() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (in_flight_) {
      write(lock);
    } else {
      changed_.wait(lock);
    }
  }
}

void CheckpointWriter::write(std::unique_lock<std::mutex>& lock) {
  auto state = std::move(state_);
  const TrainState beside = std::move(beside_);
  reading_ = state.get();
  lock.unlock();
  auto path = store_.save(*state, beside, [this](std::uint64_t written) { return go_on(written); });
  lock.lock();
  reading_ = nullptr;
  lock.unlock();
  state.reset();
  lock.lock();
  ended_ = Ended{.batches = beside.loader.position.batches,
                 .path = std::move(path),
                 .bytes = progress_.bytes,
                 .took = clock_.now() - began_};
  in_flight_ = false;
  sweeping_ = true;
  changed_.notify_all();
  lock.unlock();
  // Training does not wait for the removal; the next save() reports the same error.
  static_cast<void>(store_.sweep());
  lock.lock();
  sweeping_ = false;
  changed_.notify_all();
}

}  // namespace forebay
