#include "trainer/saving/saver.h"

#include <algorithm>
#include <string_view>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/runtime/actor.h"

namespace forebay {
namespace {

constexpr std::chrono::milliseconds kSlice(20);  // Interval at which a stop request is noticed.
constexpr std::uint64_t kTelling = std::uint64_t{32} << 20;  // Fewer bytes show no speed.

double speed_of(std::uint64_t bytes, std::chrono::nanoseconds time) {
  const double seconds = in_seconds(time);
  return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

}  // namespace

/// Owner → actor: write a checkpoint.
struct CheckpointWriter::Write {
  static constexpr std::string_view kTag = "trainer.write_checkpoint/1";
  using Reply = std::string;
  std::shared_ptr<StateSource> state;
  TrainState beside;
  std::shared_ptr<Task> task;
};

/// Owner → actor: remove the checkpoints that the last one replaced.
struct CheckpointWriter::Sweep {
  static constexpr std::string_view kTag = "trainer.sweep_checkpoints/1";
};

/// Its state is on the disk, so it is restarted after a crash; the next save removes what is left
/// of the checkpoint that it was writing.
class CheckpointWriter::Writing final : public ActorOf<Writing, Write, Sweep> {
 public:
  explicit Writing(CheckpointStore& store) : store_(store) {}

  Result<std::string> on(Write&& write, Context& context) {
    const auto state = std::move(write.state);  // Released before the answer.
    Task& task = *write.task;
    auto path = store_.save(*state, write.beside, [&task](std::uint64_t written) {
      task.written = written;
      return !task.given_up;
    });
    task.ended = context.clock().now();
    return path;
  }

  Status on(const Sweep&, Context&) { return store_.sweep(); }

 private:
  CheckpointStore& store_;
};

CheckpointWriter::CheckpointWriter(CheckpointStore& store, const Clock& clock,
                                   std::function<void()> on_ended)
    : store_(store),
      clock_(clock),
      on_ended_(std::move(on_ended)),
      threads_(clock),
      actor_(threads_.spawn(
          {.name = "checkpoints",
           .restart = {.restarts = kRestarts, .period = std::chrono::nanoseconds::max()},
           .on_crash = [this](const Error&) { ++crashes_; }},
          [&store] { return std::make_unique<Writing>(store); })) {}

void CheckpointWriter::begin(std::unique_ptr<StateSource> state, TrainState beside) {
  FOREBAY_CHECK(!written_);
  task_ = std::make_shared<Task>();
  task_->batches = beside.loader.position.batches;
  for (const StateTensor& tensor : state->tensors()) task_->bytes += tensor.bytes();
  task_->began = clock_.now();
  std::shared_ptr<StateSource> shared = std::move(state);
  reading_ = shared;
  written_.emplace();
  ask_and_deliver(actor_, Write{std::move(shared), std::move(beside), task_},
                  [this, fill = written_->filler()](Result<std::string> path) {
                    fill(std::move(path));
                    if (on_ended_) on_ended_();
                  });
  // Training does not wait for the removal; the next save() reports the same error.
  swept_ = ask(actor_, Sweep{});
}

std::optional<CheckpointWriter::Ended> CheckpointWriter::take() {
  if (!written_ || busy()) return std::nullopt;
  auto path = written_->wait();
  written_.reset();
  const auto task = std::exchange(task_, nullptr);
  if (!path && !task->ended) path.error().message.insert(0, store_.not_written());
  return Ended{.batches = task->batches,
               .path = std::move(path),
               .bytes = task->bytes,
               .took = task->ended.value_or(clock_.now()) - task->began};
}

CheckpointWriter::Progress CheckpointWriter::progress() const {
  if (task_ == nullptr) return {};
  return {.bytes = task_->bytes, .written = task_->written, .taken = clock_.now() - task_->began};
}

void CheckpointWriter::give_up() {
  if (task_ == nullptr) return;
  task_->given_up = true;
  if (const auto state = reading_.lock()) state->give_up();
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
    : store_(store),
      options_(std::move(options)),
      checkpoint_(options_.checkpoint),
      batches_(options_.batches),
      writer_(store, clock, options_.on_ended) {}

bool Saver::save(Model& model, TrainState beside) {
  if (writer_.busy()) return false;
  collect();
  if (writer_.gone()) return true;
  auto state = model.snapshot();
  if (!state) {
    state.error().message.insert(0, store_.not_written());
    refuse(std::move(state.error()));
    return true;
  }
  writer_.begin(std::move(*state), std::move(beside));
  bytes_ = writer_.progress().bytes;
  return true;
}

void Saver::collect() {
  if (take_result() && options_.say) options_.say(written_.error().message);
}

/// Takes the result of a checkpoint that has ended; returns whether it failed.
bool Saver::take_result() {
  const auto ended = writer_.take();
  if (!ended) return false;
  if (ended->path) {
    checkpoint_ = *ended->path;
    batches_ = ended->batches;
    bytes_per_second_ = speed_of(ended->bytes, ended->took);
    written_ = {};
  } else if (ended->path.error().code != Code::kTimeout) {
    Error error = ended->path.error();
    if (writer_.gone()) error.message += "; no more checkpoints of this run are written";
    written_ = tl::unexpected<Error>(std::move(error));
    return true;
  }
  return false;
}

/// Reports why a checkpoint is not written.
void Saver::refuse(Error error) {
  if (options_.say) options_.say(error.message);
  written_ = tl::unexpected<Error>(std::move(error));
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
  if (!save(model, std::move(beside))) return;
  for (std::chrono::nanoseconds slice{0}; writer_.busy(slice); slice = kSlice) {
    const auto left = time_left();
    if (left && left->count() <= 0) writer_.give_up();
  }
  take_result();  // finish() returns its error, which ends the run.
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
