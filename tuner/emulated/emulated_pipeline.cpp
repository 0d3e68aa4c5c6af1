#include "tuner/emulated/emulated_pipeline.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace forebay::tuner {
namespace {

/// An actor that woke late may set the begin of its next split back by at most this many seconds.
constexpr double kMostMadeUp = 0.1;

/// Splits that wait in the source: enough that every actor that asks finds one.
constexpr std::size_t kSourceSplits = 8;
/// With order, as many as have a place in the prefetch queue.
constexpr std::size_t kMostSourceSplits = std::size_t{1} << 24U;

}  // namespace

PipelineAccounting::PipelineAccounting(const PipelineModel& model, double start)
    : model_(model),
      memory_(model.base_bytes, model.memory_bytes),
      exempt_(model.stages.size(), 0),
      census_{.actors = std::vector<std::uint32_t>(model.stages.size(), 0),
              .leaving = std::vector<std::uint32_t>(model.stages.size(), 0),
              .queued = std::vector<std::uint32_t>(model.stages.size(), 0),
              .prefetch = model.prefetch_splits},
      noted_(start) {
  interval_.queue_fill.resize(model.stages.size());
}

void PipelineAccounting::note(double now, const Census& census, std::uint64_t memory_limit) {
  for (std::size_t i = 0; i < model_.stages.size(); ++i) {
    interval_.queue_fill[i] += fill_of(i) * (now - noted_);
  }
  interval_.seconds += now - noted_;
  noted_ = now;
  const bool was_full = census_.queued.back() >= census_.prefetch;
  if (!was_full && census.queued.back() >= census.prefetch) ++interval_.prefetch_full;
  note_memory(now, census, memory_limit);
  census_ = census;
}

double PipelineAccounting::fill_of(std::size_t stage) const {
  const bool last = stage + 1 == model_.stages.size();
  const double room = last ? census_.prefetch : model_.queue_splits;
  return std::min(1.0, census_.queued[stage] / room);
}

std::uint64_t PipelineAccounting::bytes_in(const Census& census) const {
  std::uint64_t bytes = model_.base_bytes;
  for (std::size_t i = 0; i < model_.stages.size(); ++i) {
    bytes += census.actors[i] * model_.stages[i].bytes_per_actor;
    bytes += census.queued[i] * model_.stages[i].bytes_out;
  }
  return bytes;
}

void PipelineAccounting::note_memory(double now, const Census& census, std::uint64_t limit) {
  for (std::size_t i = 0; i < exempt_.size(); ++i) {
    if (exempt_[i] <= census.leaving[i]) continue;
    const std::uint64_t gone = exempt_[i] - census.leaving[i];
    exempt_[i] = census.leaving[i];
    memory_.give(gone * model_.stages[i].bytes_per_actor);
    memory_.give_exempt(gone * model_.stages[i].bytes_per_actor);
  }
  const std::uint64_t before = memory_.used();
  const std::uint64_t after = bytes_in(census);
  if (after >= before) {
    memory_.take(after - before);
  } else {
    memory_.give(before - after);
  }
  if (memory_.enforce(now, leaving_bytes(census))) exempt_ = census.leaving;
  if (limit != memory_.limit()) memory_.set_limit(now, limit);
}

std::uint64_t PipelineAccounting::leaving_bytes(const Census& census) const {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < census.leaving.size(); ++i) {
    bytes += census.leaving[i] * model_.stages[i].bytes_per_actor;
  }
  return bytes;
}

PipelineAccounting::Interval PipelineAccounting::take() {
  Interval taken = interval_;
  for (double& fill : taken.queue_fill) fill /= std::max(taken.seconds, 1e-9);
  taken.memory_peak = memory_.peak();
  memory_.restart_peak();
  interval_ = {};
  interval_.queue_fill.resize(model_.stages.size());
  return taken;
}

/// Emulates a stage's work, or the trainer's: sleeps until the machine ends the work.
class EmulatedPipeline::Actor final : public PoolWorker<Split> {
 public:
  Actor(EmulatedPipeline& pipeline, std::size_t stage)
      : pipeline_(pipeline), stage_(stage), free_since_(pipeline.options_.machine.now()) {
    const auto& stages = pipeline.options_.model.stages;
    if (stage < stages.size() && stages[stage].start_seconds > 0) {
      started_up_ = free_since_ + stages[stage].start_seconds;
    }
  }

  Status on(Split&& split, PoolContext& context) override {
    if (started_up_ && !start_up()) return {};
    if (stage_ == 0 && !pipeline_.ordered_ && !pipeline_.options_.outlet) put_next_into_source();
    pipeline_.options_.on_move();
    MachineThread& machine = pipeline_.options_.machine;
    WorkItem work{.stage = stage_,
                  .node = pipeline_.options_.node,
                  .actors = static_cast<std::uint32_t>(pool().actors()),
                  .begin = std::max({free_since_, split.ready, machine.now() - kMostMadeUp})};
    pipeline_.last_taken_[stage_] = work.begin;
    if (!machine.do_work(work)) return {};
    pipeline_.sums_[stage_].add(work);
    free_since_ = split.ready = work.end;
    if (stage_ == pipeline_.trainer_) {
      if (pool().queued() == 0) pipeline_.options_.on_empty();
    } else {
      put_out(split, context);
    }
    return {};
  }

 private:
  Pool& pool() { return *pipeline_.pools_[stage_]; }

  /// Waits until the actor has started up; false: the machine was stopped meanwhile.
  bool start_up() {
    WorkItem work{.stage = WorkItem::kStartUp,
                  .node = pipeline_.options_.node,
                  .begin = pipeline_.options_.machine.now()};
    work.wait_seconds = std::max(0.0, *started_up_ - work.begin);
    if (!pipeline_.options_.machine.do_work(work)) return false;
    free_since_ = work.end;
    started_up_.reset();
    return true;
  }

  void put_next_into_source() {
    Split next{.key = pipeline_.next_split_++, .ready = 0};
    static_cast<void>(pool().try_offer(Split(next), 1));  // Fails if the pool was cancelled.
  }

  void put_out(Split& split, PoolContext& context) {
    const bool to_outlet = stage_ + 1 == pipeline_.trainer_ && pipeline_.options_.outlet;
    const auto had_room = to_outlet ? pipeline_.options_.outlet->take(split, context)
                                    : pipeline_.put_into_pool(stage_ + 1, split, context);
    // The queue had space as soon as a split was taken from it, even if this thread woke later.
    if (had_room) {
      const double latest = std::max(free_since_, pipeline_.options_.machine.now());
      free_since_ = std::clamp(*had_room, free_since_, latest);
    }
    pipeline_.options_.on_move();
  }

  EmulatedPipeline& pipeline_;
  const std::size_t stage_;
  double free_since_;                      // when the previous split was handed on
  std::optional<double> started_up_ = {};  // when it will have started up
};

/// A trainer that takes splits by number: an early one waits with it, and counts as prefetched.
class EmulatedPipeline::OrderedTrainer final : public PoolWorker<Split> {
 public:
  explicit OrderedTrainer(EmulatedPipeline& pipeline) : pipeline_(pipeline) {}

  Status on(Split&& split, PoolContext& /*context*/) override {
    early_.emplace(split.key, split.ready);
    while (!early_.empty() && early_.begin()->first == pipeline_.trainer_next_) {
      const double ready = early_.begin()->second;
      early_.erase(early_.begin());
      pipeline_.early_ = static_cast<std::uint32_t>(early_.size());
      ++pipeline_.trainer_next_;
      if (!train(ready)) return {};
    }
    pipeline_.early_ = static_cast<std::uint32_t>(early_.size());
    pipeline_.options_.on_move();
    if (early_.empty()) pipeline_.options_.on_empty();
    return {};
  }

 private:
  bool train(double ready) {
    MachineThread& machine = pipeline_.options_.machine;
    pipeline_.options_.on_move();
    WorkItem work{.stage = pipeline_.trainer_,
                  .begin = std::max({free_since_, ready, machine.now() - kMostMadeUp})};
    pipeline_.last_taken_[pipeline_.trainer_] = work.begin;
    pipeline_.feed_source(work.begin);
    if (!machine.do_work(work)) return false;
    pipeline_.sums_[pipeline_.trainer_].add(work);
    ++pipeline_.trained_;
    free_since_ = work.end;
    return true;
  }

  EmulatedPipeline& pipeline_;
  double free_since_ = 0;
  std::map<std::uint64_t, double> early_;  // When each was ready, by number.
};

EmulatedPipeline::EmulatedPipeline(Options options)
    : options_(std::move(options)),
      trainer_(options_.model.stages.size()),
      sums_(trainer_ + 1),
      last_taken_(trainer_ + 1),
      ordered_(options_.model.stages.back().ordered),
      asked_{.actors = std::vector<std::uint32_t>(trainer_, 0),
             .prefetch = options_.model.prefetch_splits} {
  bytes_of_split_.push_back(1);
  for (const StageModel& stage : options_.model.stages) {
    bytes_of_split_.push_back(std::max<std::uint64_t>(stage.bytes_out, 1));
  }
  const bool fed = ordered_ || options_.outlet != nullptr;
  for (std::size_t i = 0; i < trainer_; ++i) {
    const std::size_t splits =
        i > 0 ? options_.model.queue_splits : (fed ? kMostSourceSplits : kSourceSplits);
    pools_.push_back(make_pool(i, options_.model.stages[i].name, splits));
  }
  if (options_.outlet) return;
  pools_.push_back(make_pool(trainer_, "trainer", asked_.prefetch));
  fill_source();
  pools_[trainer_]->grow(1);
}

void EmulatedPipeline::fill_source() {
  if (ordered_) return feed_source(0);
  for (std::size_t i = 0; i < kSourceSplits; ++i) {
    static_cast<void>(pools_[0]->try_offer(Split{.key = next_split_++, .ready = 0}, 1));
  }
}

bool EmulatedPipeline::begin(const Split& split) {
  return pools_[0]->try_offer(Split(split), 1).has_value();
}

/// Returns since when the pool's queue had room; nothing if the split did not have to wait.
std::optional<double> EmulatedPipeline::put_into_pool(std::size_t stage, const Split& split,
                                                      PoolContext& context) {
  Pool& next = *pools_[stage];
  if (next.try_offer(Split(split), bytes_of_split_[stage])) return std::nullopt;
  static_cast<void>(
      next.offer(Split(split), bytes_of_split_[stage], context));  // False: cancelled.
  return last_taken_[stage].load();
}

EmulatedPipeline::~EmulatedPipeline() {
  cancel();
  wait_until_gone();
}

std::unique_ptr<EmulatedPipeline::Pool> EmulatedPipeline::make_pool(std::size_t stage,
                                                                    const std::string& name,
                                                                    std::size_t splits) {
  return std::make_unique<Pool>(
      Pool::Options{.name = name,
                    .mailbox_bytes = splits * bytes_of_split_[stage],
                    .order = PoolOrder::kArrival,
                    .stack_bytes = 256 * 1024,
                    .factory = [this, stage] { return make_actor(stage); },
                    .on_failure = [this](const Error& error) { fail_with(error); },
                    .on_drained = {}},
      options_.clock);
}

std::unique_ptr<PoolWorker<Split>> EmulatedPipeline::make_actor(std::size_t stage) {
  if (ordered_ && stage == trainer_) return std::make_unique<OrderedTrainer>(*this);
  return std::make_unique<Actor>(*this, stage);
}

// A number may start when it has a place in the prefetch queue, and no actor may begin it earlier.
void EmulatedPipeline::feed_source(double at) {
  serial_([&] {
    while (next_split_ < trainer_next_ + asked_.prefetch) {
      if (!pools_[0]->try_offer(Split{.key = next_split_++, .ready = at}, 1)) return;
    }
  });
}

void EmulatedPipeline::apply(const Allocation& allocation) {
  Allocation wanted = allocation;
  for (std::uint32_t& actors : wanted.actors) actors = std::max(actors, 1U);
  wanted.prefetch = std::max(wanted.prefetch, 1U);
  const Allocation before = serial_([&] { return std::exchange(asked_, wanted); });
  for (std::size_t i = 0; i < trainer_; ++i) {
    if (wanted.actors[i] < before.actors[i]) pools_[i]->resize(wanted.actors[i]);
  }
  if (options_.outlet) {
    options_.outlet->set_prefetch(wanted.prefetch);
  } else {
    pools_[trainer_]->set_mailbox_bytes(wanted.prefetch * bytes_of_split_[trainer_]);
  }
  for (std::size_t i = 0; i < trainer_; ++i) {
    if (wanted.actors[i] > before.actors[i]) pools_[i]->resize(wanted.actors[i]);
  }
  if (ordered_ && !options_.outlet) feed_source(options_.machine.now());
}

void EmulatedPipeline::cancel() {
  for (const auto& pool : pools_) pool->cancel();
}

void EmulatedPipeline::wait_until_gone() {
  for (const auto& pool : pools_) pool->join();
}

Census EmulatedPipeline::census() const {
  Census census;
  for (std::size_t i = 0; i < trainer_; ++i) {
    // In this order: an actor that leaves in between counts as alive and leaving, or not at all.
    census.leaving.push_back(static_cast<std::uint32_t>(pools_[i]->retiring()));
    census.actors.push_back(static_cast<std::uint32_t>(pools_[i]->actors()));
    const bool has_pool = i + 1 < pools_.size();
    census.queued.push_back(has_pool ? static_cast<std::uint32_t>(pools_[i + 1]->queued())
                                     : options_.outlet->queued());
  }
  census.queued.back() += early_;
  const std::uint64_t taken = trainer_next_;
  serial_([&] {
    census.prefetch = asked_.prefetch;
    census.asked = asked_.actors;
    if (ordered_) census.started = static_cast<std::uint32_t>(next_split_ - taken);
  });
  if (options_.outlet) census.prefetch = options_.outlet->limit();
  return census;
}

std::optional<Error> EmulatedPipeline::failure() const {
  return serial_([this] { return std::optional<Error>(failure_); });
}

void EmulatedPipeline::fail_with(const Error& error) {
  serial_([&] {
    if (!failure_) failure_ = error;
  });
}

}  // namespace forebay::tuner
