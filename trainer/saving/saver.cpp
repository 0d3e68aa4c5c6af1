#include "trainer/saving/saver.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/clock.h"

namespace forebay {
namespace {

constexpr std::chrono::milliseconds kSlice(20);  // Interval at which a stop request is noticed.
constexpr std::uint64_t kTelling = std::uint64_t{32} << 20;  // Fewer bytes show no speed.

double speed_of(std::uint64_t bytes, std::chrono::nanoseconds time) {
  const double seconds = in_seconds(time);
  return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

}  // namespace

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

CheckpointWriter::Progress CheckpointWriter::progress() const {
  const std::lock_guard lock(mutex_);
  if (!in_flight_) return {};
  Progress now = progress_;
  now.taken = clock_.now() - began_;
  return now;
}

void CheckpointWriter::give_up() {
  const std::lock_guard lock(mutex_);
  given_up_ = true;
  if (reading_ != nullptr) reading_->give_up();
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
  auto path = store_.save(*state, beside, [this](std::uint64_t written) {
    const std::lock_guard guard(mutex_);
    progress_.written = written;
    return !given_up_;
  });
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

std::optional<std::chrono::nanoseconds> time_to_write(std::uint64_t bytes,
                                                      double bytes_per_second) {
  if (!(bytes_per_second > 0)) return std::nullopt;
  const std::chrono::duration<double> seconds(static_cast<double>(bytes) / bytes_per_second);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(seconds);
}

LastSave plan_last_save(const LastSaveQuestion& question) {
  const auto fits = [&](std::uint64_t bytes) {
    const auto time = time_to_write(bytes, question.bytes_per_second);
    return question.left.count() > 0 && (!time || *time <= question.left);
  };
  if (question.bytes_left > 0) {
    if (fits(question.bytes_left + question.bytes)) return LastSave::kWaitAndWrite;
    if (fits(question.bytes)) return LastSave::kWrite;
    return fits(question.bytes_left) ? LastSave::kWait : LastSave::kNothing;
  }
  return fits(question.bytes) ? LastSave::kWrite : LastSave::kNothing;
}

Saver::Saver(CheckpointStore& store, const Clock& clock, Options options)
    : options_(std::move(options)),
      checkpoint_(options_.checkpoint),
      batches_(options_.batches),
      writer_(store, clock) {}

Result<bool> Saver::save(Model& model, TrainState beside) {
  if (writer_.busy()) return false;
  collect();
  auto state = model.snapshot();
  if (!state) return pass(state);
  writer_.begin(std::move(*state), std::move(beside));
  bytes_ = writer_.progress().bytes;
  return true;
}

/// Takes the result of the checkpoint that ended.
void Saver::collect() {
  const auto ended = writer_.take();
  if (!ended) return;
  if (ended->path) {
    checkpoint_ = *ended->path;
    batches_ = ended->batches;
    bytes_per_second_ = speed_of(ended->bytes, ended->took);
    written_ = {};
  } else if (ended->path.error().code != Code::kTimeout) {
    written_ = tl::unexpected<Error>(ended->path.error());
    if (options_.say) options_.say(ended->path.error().message);
  }
}

/// Waits for the checkpoint in flight, or cancels it if that loses fewer batches.
void Saver::settle() {
  for (std::chrono::nanoseconds slice{0}; writer_.busy(slice); slice = kSlice) {
    const auto left = time_left();
    if (!left) continue;
    const auto now = writer_.progress();
    const bool tells = now.written >= kTelling;
    const LastSave plan = plan_last_save(
        {.bytes = now.bytes,
         .bytes_left = std::max<std::uint64_t>(now.bytes - now.written, 1),
         .bytes_per_second = tells ? speed_of(now.written, now.taken) : bytes_per_second_,
         .left = *left});
    if (plan == LastSave::kWrite || plan == LastSave::kNothing) writer_.give_up();
  }
  collect();
}

bool Saver::last_one_fits() const {
  const auto left = time_left();
  if (!left) return true;
  return plan_last_save({.bytes = bytes_, .bytes_per_second = bytes_per_second_, .left = *left}) ==
         LastSave::kWrite;
}

void Saver::write_last(Model& model, TrainState beside) {
  auto begun = save(model, std::move(beside));
  if (!begun) {
    written_ = pass(begun);
    return;
  }
  for (std::chrono::nanoseconds slice{0}; writer_.busy(slice); slice = kSlice) {
    const auto left = time_left();
    if (left && left->count() <= 0) writer_.give_up();
  }
  collect();
}

/// Waits until the replaced checkpoints are removed: the process may end without waiting for the
/// writer's thread.
void Saver::tidy() {
  for (std::chrono::nanoseconds slice{0}; writer_.sweeping(slice); slice = kSlice) {
    const auto left = time_left();
    if (left && left->count() <= 0) return;
  }
}

Saver::Ended Saver::finish(Model& model, TrainState beside) {
  const std::uint64_t batches = beside.loader.position.batches;
  settle();
  if (batches != batches_ && last_one_fits()) write_last(model, std::move(beside));
  tidy();
  return ended_after(batches);
}

Saver::Ended Saver::fail_after(std::uint64_t batches) {
  settle();
  tidy();
  return ended_after(batches);
}

Saver::Ended Saver::ended_after(std::uint64_t batches) {
  Ended ended{.checkpoint = checkpoint_,
              .batches_lost = batches - batches_,
              .written = {},
              .bytes = bytes_};
  if (ended.batches_lost > 0) ended.written = written_;
  ended.takes = time_to_write(bytes_, bytes_per_second_);
  return ended;
}

}  // namespace forebay
