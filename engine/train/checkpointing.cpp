#include "engine/train/checkpointing.h"

#include "core/base/text/counted.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

/// One part in so many of the grace is reserved for everything else that has to end.
constexpr int kGraceForTheRest = 10;

constexpr const char* kAnew = ": training starts anew";

std::string nothing_to_resume(bool model_is_none) {
  return (model_is_none ? "trainer.model = \"none\" keeps no checkpoints"
                        : std::string("trainer.checkpoint is not set")) +
         kAnew;
}

}  // namespace

Result<Checkpointing> Checkpointing::open(const JobSpec& job, Begin begin,
                                          const RunEvents& events) {
  Checkpointing made(job, events);
  made.begin_ = begin;
  const std::string& directory = job.trainer.checkpoint;
  const bool keeps_none = job.trainer.model == TrainerSpec::ModelKind::kNone;
  if (directory.empty() || keeps_none) {
    if (begin == Begin::kResume) made.begins_from_ = nothing_to_resume(keeps_none);
    return made;
  }
  auto store = CheckpointStore::open(directory, static_cast<std::size_t>(job.trainer.keep));
  if (!store) return pass(store);
  made.store_ = std::make_unique<CheckpointStore>(std::move(*store));
  if (made.store_->empty()) {
    if (begin == Begin::kResume) made.begins_from_ = "no checkpoint in " + directory + kAnew;
    return made;
  }
  if (begin == Begin::kRestart) return made;
  if (begin == Begin::kFresh) {
    return fail(Code::kInvalid,
                directory +
                    " holds checkpoints of an earlier run: add --resume to go on from the "
                    "last, --restart to remove them and start anew");
  }
  made.resumes_ = true;
  return made;
}

Result<CheckpointStore::Found> Checkpointing::restore(Model& model,
                                                      const CheckpointStore::Accept& accept) {
  if (!resumes_) return CheckpointStore::Found{};
  auto found = store_->restore_last(model, accept);
  if (!found) return found;
  for (const std::string& damaged : found->damaged) events_->announce(damaged);
  if (!found->checkpoint) {
    begins_from_ = std::string("no complete checkpoint is left") + kAnew;
    return found;
  }
  from_.checkpoint = found->checkpoint->path;
  from_.batches = found->checkpoint->batches;
  begins_from_ = "going on from " + from_.checkpoint;
  return found;
}

Status Checkpointing::began(const Clock& clock, std::function<void()> ended) {
  if (store_ && begin_ == Begin::kRestart) {
    if (auto cleared = store_->clear(); !cleared) return cleared;
  }
  if (!begins_from_.empty()) events_->announce(begins_from_);
  if (!store_) return {};
  from_.say = [events = events_](const std::string& line) { events->announce(line); };
  from_.time_left = [grace = grace_,
                     events = events_]() -> std::optional<std::chrono::nanoseconds> {
    if (!events->stop_requested()) return std::nullopt;
    return grace - grace / kGraceForTheRest - events->stop->since();
  };
  from_.on_ended = std::move(ended);
  saver_ = std::make_unique<Saver>(*store_, clock, from_);
  return {};
}

Saver::Ended Checkpointing::finish(Model& model, TrainState state) {
  auto ended = saver_->finish(model, std::move(state));
  say_what_is_lost(ended);
  return ended;
}

Saver::Ended Checkpointing::fail_after(std::uint64_t batches) {
  auto ended = saver_->fail_after(batches);
  say_what_is_lost(ended);
  return ended;
}

void Checkpointing::say_what_is_lost(const Saver::Ended& ended) const {
  if (ended.batches_lost == 0) return;
  const std::string since = ended.checkpoint.empty() ? "the start" : ended.checkpoint;
  std::string line = format_counted(ended.batches_lost, "batch", "batches") + " since " + since +
                     (ended.batches_lost == 1 ? " is lost" : " are lost");
  if (events_->stop_requested() && ended.written) {
    line += ": a checkpoint of " + format_size(ended.bytes) + " takes ";
    line += ended.takes ? "about " + format_duration(*ended.takes) : std::string("longer");
    line += ", run.grace is " + format_duration(grace_);
  }
  events_->announce(line);
}

}  // namespace forebay
