#include "engine/emulated/modelled_trainer.h"

#include <algorithm>

#include "tuner/world/world_layout.h"

namespace forebay {
namespace {

/// An actor that woke late may set the begin of its next step back by at most this many seconds.
constexpr double kMostMadeUp = 0.1;

constexpr std::size_t kMailboxBytes = std::size_t{1} << 40U;  // Places bound the real size.

}  // namespace

class ModelledTrainer::Actor final : public PoolWorker<MadeSplit> {
 public:
  explicit Actor(ModelledTrainer& trainer) : trainer_(trainer) {}

  Status on(MadeSplit&& made, PoolContext&) override {
    if (!trainer_.ordered_) {
      train(made);
      return {};
    }
    early_.emplace(made.key, made);
    for (auto next = early_.find(next_); next != early_.end(); next = early_.find(next_)) {
      const MadeSplit due = next->second;
      early_.erase(next);
      ++next_;
      if (!train(due)) break;
    }
    return {};
  }

 private:
  bool train(const MadeSplit& made) {
    tuner::MachineThread& machine = trainer_.options_.machine;
    const double free_since = free_since_;
    tuner::WorkItem work{.stage = trainer_.options_.model.stages.size(),
                         .node = made.node,
                         .begin = std::max({free_since, made.ready, machine.now() - kMostMadeUp})};
    const double waited = work.begin - free_since -
                          tuner::paused_between(trainer_.options_.model, free_since, work.begin);
    trainer_.take(made, work.begin);
    if (!machine.do_work(work)) return false;
    free_since_ = work.end;
    trainer_.trained(made, work, waited);
    return true;
  }

  ModelledTrainer& trainer_;
  double free_since_ = 0;
  std::uint64_t next_ = 0;                    // with order, as the member below
  std::map<std::uint64_t, MadeSplit> early_;  // by number
};

ModelledTrainer::ModelledTrainer(Options options)
    : options_(std::move(options)),
      ordered_(options_.model.stages.back().ordered),
      prefetch_(std::max(1U, options_.model.prefetch_splits)),
      on_their_way_(tuner::nodes_of(options_.model).size(), 0),
      totals_(on_their_way_.size()),
      pool_(std::make_unique<StagePool<MadeSplit>>(
          StagePool<MadeSplit>::Options{
              .name = "trainer",
              .mailbox_bytes = kMailboxBytes,
              .stack_bytes = 256 * 1024,
              .factory = [this] { return std::make_unique<Actor>(*this); }},
          options_.clock)) {
  pool_->grow(1);
}

ModelledTrainer::~ModelledTrainer() {
  cancel();
  join();
}

std::uint32_t ModelledTrainer::taken_locked() const {
  std::uint32_t taken = queued_;
  for (const std::uint32_t each : on_their_way_) taken += each;
  return taken;
}

void ModelledTrainer::grant_locked(double at, Grants& grants) {
  while (!waiting_.empty() && (ordered_ || taken_locked() < prefetch_)) {
    Question& first = waiting_.front();
    ++on_their_way_[first.node];
    grants.emplace_back(std::move(first.granted), std::max(at, first.at));
    waiting_.pop_front();
  }
}

void ModelledTrainer::tell(const Grants& grants) {
  for (const auto& [granted, at] : grants) granted(at);
}

void ModelledTrainer::ask_place(std::size_t node, double at, Granted granted) {
  Grants grants;
  serial_([&] {
    waiting_.push_back({.node = node, .at = at, .granted = std::move(granted)});
    grant_locked(at, grants);
  });
  tell(grants);
}

void ModelledTrainer::arrived(const MadeSplit& made) {
  serial_([&] {
    std::uint32_t& coming = on_their_way_[made.node];
    coming -= std::min(coming, 1U);
    ++queued_;
  });
  static_cast<void>(pool_->try_offer(MadeSplit(made), 1));  // Fails if the trainer was stopped.
  options_.on_move();
}

void ModelledTrainer::take(const MadeSplit& made, double at) {
  Grants grants;
  serial_([&] {
    --queued_;
    grant_locked(at, grants);
  });
  tell(grants);
  options_.on_take(made.key, at);
  options_.on_move();
}

void ModelledTrainer::trained(const MadeSplit& made, const tuner::WorkItem& work, double waited) {
  const bool is_empty = serial_([&] {
    Totals& sums = totals_[made.node];
    ++sums.trained;
    sums.step_seconds += work.seconds();
    sums.wait_seconds += std::max(0.0, waited);
    return queued_ == 0;
  });
  if (is_empty) options_.on_empty();
}

void ModelledTrainer::forget(std::size_t node) {
  Grants grants;
  serial_([&] {
    std::erase_if(waiting_, [node](const Question& each) { return each.node == node; });
    on_their_way_[node] = 0;
    grant_locked(options_.machine.now(), grants);
  });
  tell(grants);
}

void ModelledTrainer::set_prefetch(std::uint32_t splits) {
  Grants grants;
  serial_([&] {
    prefetch_ = std::max(1U, splits);
    grant_locked(options_.machine.now(), grants);
  });
  tell(grants);
}

std::uint32_t ModelledTrainer::queued() const {
  return serial_([this] { return taken_locked(); });
}

std::uint32_t ModelledTrainer::prefetch() const {
  return serial_([this] { return prefetch_; });
}

ModelledTrainer::Totals ModelledTrainer::totals_of(std::size_t node) const {
  return serial_([&] { return Totals(totals_[node]); });
}

ModelledTrainer::Totals ModelledTrainer::totals() const {
  return serial_([this] {
    Totals sum;
    for (const Totals& each : totals_) {
      sum.trained += each.trained;
      sum.step_seconds += each.step_seconds;
      sum.wait_seconds += each.wait_seconds;
    }
    return sum;
  });
}

}  // namespace forebay
