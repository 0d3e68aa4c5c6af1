#include "core/runtime/actor_host.h"

#include <vector>

#include "core/base/check.h"
#include "core/runtime/actor.h"
#include "core/runtime/executor/dedicated_thread.h"

namespace forebay {

ActorHost::ActorHost(Parts parts) : parts_(std::move(parts)) {}

ActorHost::~ActorHost() { FOREBAY_CHECK(num_living() == 0); }

CellPtr ActorHost::add(const SpawnOptions& options,
                       std::function<std::unique_ptr<Actor>()> factory) {
  const ActorId id = next_id();
  Executor& executor = executor_for(options);
  auto cell = std::make_shared<Cell>(*this, id, options, std::move(factory), executor);
  std::unique_lock lock(mutex_);
  cell->living = {.self = cell, .before = nullptr, .after = newest_};
  if (newest_ != nullptr) newest_->living.before = cell.get();
  newest_ = cell.get();
  ++num_living_;
  const bool too_late = stopping_;
  lock.unlock();
  if (too_late) cell->stop_now();
  return cell;
}

Executor& ActorHost::executor_for(const SpawnOptions& options) {
  if (options.placement == Placement::kShared || parts_.own_thread_as == Placement::kShared) {
    return parts_.executor;
  }
  std::list<DedicatedThread> ended;  // Joined after the lock is released.
  const std::lock_guard lock(mutex_);
  for (auto thread = threads_.begin(); thread != threads_.end();) {
    const auto next = std::next(thread);
    if (thread->ended()) ended.splice(ended.end(), threads_, thread);
    thread = next;
  }
  return threads_.emplace_back(
      Thread::Options{.name = options.name, .stack_bytes = options.stack_bytes});
}

void ActorHost::forget(Cell& cell) {
  Cell::Living gone;
  const std::lock_guard lock(mutex_);
  gone = std::exchange(cell.living, {});
  (gone.before == nullptr ? newest_ : gone.before->living.after) = gone.after;
  if (gone.after != nullptr) gone.after->living.before = gone.before;
  --num_living_;
  if (num_living_ == 0) emptied_.notify_all();
}

void ActorHost::report(ActorId actor, const Error& unheard) const {
  if (parts_.on_unheard) parts_.on_unheard(actor, unheard);
}

void ActorHost::stop_all(Stop how) {
  std::vector<CellPtr> living;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    living.reserve(num_living_);
    for (Cell* cell = newest_; cell != nullptr; cell = cell->living.after) {
      living.push_back(cell->living.self);
    }
  }
  for (const CellPtr& cell : living) {
    how == Stop::kDrain ? cell->stop_behind_queue() : cell->stop_now();
  }
}

void ActorHost::wait_until_empty() {
  std::unique_lock lock(mutex_);
  emptied_.wait(lock, [this] { return num_living_ == 0; });
}

std::size_t ActorHost::num_living() const {
  const std::lock_guard lock(mutex_);
  return num_living_;
}

}  // namespace forebay
