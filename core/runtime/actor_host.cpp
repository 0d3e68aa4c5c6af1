#include "core/runtime/actor_host.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/runtime/actor.h"
#include "core/runtime/executor/executor.h"

namespace forebay {

ActorHost::ActorHost(Parts parts) : parts_(std::move(parts)) {}

ActorHost::~ActorHost() { FOREBAY_CHECK(num_living() == 0); }

CellPtr ActorHost::add(const SpawnOptions& options,
                       std::function<std::unique_ptr<Actor>()> factory) {
  const ActorId id = next_id();
  Executor& executor = executor_for(options);
  auto cell = std::make_shared<Cell>(*this, id, options, std::move(factory), executor);
  std::list<CellPtr> born = {cell};  // Takes memory before the lock.
  cell->living = born.begin();
  std::unique_lock lock(mutex_);
  living_.splice(living_.begin(), born);
  const bool too_late = stopping_;
  lock.unlock();
  if (too_late) cell->stop_now();
  return cell;
}

Executor& ActorHost::executor_for(const SpawnOptions& options) {
  if (options.placement == Placement::kShared || parts_.own_thread_as == Placement::kShared) {
    return parts_.executor;
  }
  const std::lock_guard lock(mutex_);
  // Joins them under the lock: they have only their last instructions left, which need no lock.
  threads_.remove_if([](const DedicatedThread& thread) { return thread.ended(); });
  return threads_.emplace_back(
      Thread::Options{.name = options.name, .stack_bytes = options.stack_bytes});
}

void ActorHost::forget(Cell& cell) {
  std::list<CellPtr> gone;  // Released after the lock.
  const std::lock_guard lock(mutex_);
  gone.splice(gone.begin(), living_, cell.living);
  if (living_.empty()) emptied_.notify_all();
}

void ActorHost::report(ActorId actor, const Error& unheard) const {
  if (parts_.on_unheard) parts_.on_unheard(actor, unheard);
}

void ActorHost::stop_all(Stop how) {
  std::list<CellPtr> living;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    living = living_;
  }
  for (const CellPtr& cell : living) {
    how == Stop::kDrain ? cell->stop_behind_queue() : cell->stop_now();
  }
}

void ActorHost::wait_until_empty() {
  std::unique_lock lock(mutex_);
  emptied_.wait(lock, [this] { return living_.empty(); });
}

std::optional<std::string> ActorHost::name_of(const Resumable& work) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(living_.begin(), living_.end(),
                                  [&work](const CellPtr& cell) { return cell.get() == &work; });
  return found == living_.end() ? std::nullopt : std::optional((*found)->name());
}

std::size_t ActorHost::num_living() const {
  const std::lock_guard lock(mutex_);
  return living_.size();
}

}  // namespace forebay
