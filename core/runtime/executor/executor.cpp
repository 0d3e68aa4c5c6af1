#include "core/runtime/executor/executor.h"

#include <chrono>
#include <optional>
#include <utility>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/thread/start_thread.h"
#include "core/runtime/executor/parker.h"

namespace forebay {
namespace {

/// The maximum number of turns in a row from a thread's slot before it serves the queue.
constexpr std::uint32_t kMostWarm = 64;

/// For a guest: the number of messages it handles between two looks at the clock, and its time
/// limit.
constexpr std::size_t kGuestTurn = 8;
constexpr std::chrono::microseconds kGuestTime{100};

/// The number of times a thread looks for work before it sleeps: a few microseconds, less than a
/// sleep and a wake-up cost.
constexpr int kLooks = 64;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

struct SharedExecutor::Worker {
  explicit Worker(const SharedExecutor& its_owner) : owner(its_owner) {
    static std::atomic<std::uint64_t> num_workers{0};
    turn = num_workers.fetch_add(1, std::memory_order_relaxed) << 40U;
  }

  const SharedExecutor& owner;
  alignas(64) std::atomic<Resumable*> slot{nullptr};
  // Its own thread writes both, `running` reads them.
  alignas(64) std::atomic<Resumable*> in_turn{nullptr};
  std::atomic<std::uint64_t> turn{0};  // its number; each worker has numbers of its own
  std::uint32_t warm_turns = 0;        // used by its own thread only
  Parker parker;
  std::optional<Thread> thread;
};

// `submit` has no other way to find the worker of the calling thread.
thread_local SharedExecutor::Worker* SharedExecutor::worker_of_thread = nullptr;  // NOLINT: global.

SharedExecutor::SharedExecutor(const Options& options) {
  FOREBAY_CHECK(options.threads > 0);
  for (std::size_t i = 0; i < options.threads; ++i) {
    workers_.push_back(std::make_unique<Worker>(*this));
  }
  try {
    for (std::size_t i = 0; i < options.threads; ++i) {
      Worker& worker = *workers_[i];
      worker.thread.emplace(Thread::Options{.name = options.name + "-" + std::to_string(i),
                                            .stack_bytes = options.stack_bytes},
                            [this, &worker] { run(worker); });
    }
  } catch (...) {
    stop();  // Otherwise joining the started threads would never end.
    throw;
  }
}

SharedExecutor::~SharedExecutor() { stop(); }

void SharedExecutor::stop() {
  std::vector<Worker*> sleepers;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    sleepers = std::exchange(sleepers_, {});
  }
  for (Worker* worker : sleepers) worker->parker.unpark();
  for (auto& worker : workers_) worker->thread.reset();
}

SharedExecutor::Worker* SharedExecutor::this_worker() const {
  Worker* worker = worker_of_thread;
  return worker != nullptr && &worker->owner == this ? worker : nullptr;
}

void SharedExecutor::submit(Resumable& work) {
  Worker* self = this_worker();
  if (self == nullptr) return enqueue(work);
  Resumable* displaced = self->slot.exchange(&work, std::memory_order_acq_rel);
  if (displaced != nullptr) enqueue(*displaced);
}

void SharedExecutor::nudge() {
  Worker* self = this_worker();
  if (self == nullptr || num_sleepers_.load(std::memory_order_relaxed) == 0) return;
  if (Resumable* waiting = self->slot.exchange(nullptr, std::memory_order_acq_rel)) {
    enqueue(*waiting);
  }
}

class SharedExecutor::Guest final : public ExecutorGuest {
 public:
  explicit Guest(SharedExecutor& host) : host_(host), worker_(host) {
    const std::lock_guard lock(host_.mutex_);
    host_.guests_.push_back(&worker_);
  }
  ~Guest() override {
    pass_on();
    const std::lock_guard lock(host_.mutex_);
    std::erase(host_.guests_, &worker_);
  }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  void keep(const std::function<void()>& wake) override {
    const Here here(worker_);
    wake();
  }

  bool has_work() const override { return worker_.slot.load(std::memory_order_relaxed) != nullptr; }

  std::chrono::nanoseconds run() override {
    Resumable* work = take_slot(worker_);
    if (work == nullptr) return {};
    const Here here(worker_);
    const SystemClock clock;
    const auto start = clock.now();
    std::chrono::nanoseconds took{0};
    auto next = Resumable::Next::kMore;
    while (next == Resumable::Next::kMore && took < kGuestTime) {
      next = resume(worker_, *work, kGuestTurn);
      took = clock.now() - start;
    }
    if (next == Resumable::Next::kMore) host_.enqueue(*work);
    pass_on();
    return took;
  }

  void pass_on() override {
    if (Resumable* work = take_slot(worker_)) host_.enqueue(*work);
  }

 private:
  /// Makes the calling thread the one that `worker` stands for, unless it is one of an executor.
  class Here {
   public:
    explicit Here(Worker& worker) : is_mine_(worker_of_thread == nullptr) {
      if (is_mine_) worker_of_thread = &worker;
    }
    ~Here() {
      if (is_mine_) worker_of_thread = nullptr;
    }
    Here(const Here&) = delete;
    Here& operator=(const Here&) = delete;

   private:
    const bool is_mine_;
  };

  SharedExecutor& host_;
  Worker worker_;
};

std::unique_ptr<ExecutorGuest> SharedExecutor::guest() { return std::make_unique<Guest>(*this); }

std::vector<SharedExecutor::RunningTurn> SharedExecutor::running() const {
  std::vector<RunningTurn> running;
  const auto look_at = [&running](const Worker& worker) {
    const Resumable* work = worker.in_turn.load(std::memory_order_relaxed);
    if (work == nullptr) return;
    running.push_back({.work = work, .number = worker.turn.load(std::memory_order_relaxed)});
  };
  for (const auto& worker : workers_) look_at(*worker);
  const std::lock_guard lock(mutex_);
  for (const Worker* guest : guests_) look_at(*guest);
  return running;
}

Resumable::Next SharedExecutor::resume(Worker& self, Resumable& work, std::size_t messages) {
  const std::uint64_t turn = self.turn.load(std::memory_order_relaxed) + 1;
  self.turn.store(turn, std::memory_order_relaxed);
  self.in_turn.store(&work, std::memory_order_relaxed);
  const Resumable::Next next = work.resume(messages);
  self.in_turn.store(nullptr, std::memory_order_relaxed);
  return next;
}

void SharedExecutor::enqueue(Resumable& work) {
  work.next_in_line = nullptr;
  Worker* sleeper = nullptr;
  {
    const std::lock_guard lock(mutex_);
    (first_ == nullptr ? first_ : last_->next_in_line) = &work;
    last_ = &work;
    num_queued_.fetch_add(1, std::memory_order_relaxed);
    if (!sleepers_.empty()) {
      sleeper = sleepers_.back();
      sleepers_.pop_back();
      num_sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  if (sleeper != nullptr) sleeper->parker.unpark();
}

void SharedExecutor::run(Worker& self) {
  worker_of_thread = &self;
  while (Resumable* work = next(self)) {
    while (resume(self, *work, kTurn) == Resumable::Next::kMore) {
      if (self.slot.load(std::memory_order_relaxed) == nullptr &&
          num_queued_.load(std::memory_order_relaxed) == 0) {
        continue;  // No other work waits, so continue without queueing.
      }
      enqueue(*work);
      break;
    }
  }
}

Resumable* SharedExecutor::next(Worker& self) {
  while (true) {
    for (int look = 0; look < kLooks; ++look) {
      if (Resumable* work = find(self)) return work;
      pause();
    }
    std::unique_lock lock(mutex_);
    if (Resumable* work = pop_queue()) return work;
    if (stopping_) return nullptr;
    sleepers_.push_back(&self);
    num_sleepers_.fetch_add(1, std::memory_order_relaxed);
    lock.unlock();
    self.parker.park();
  }
}

Resumable* SharedExecutor::find(Worker& self) {
  if (++self.warm_turns < kMostWarm) {
    if (Resumable* work = take_slot(self)) return work;
  }
  self.warm_turns = 0;
  if (num_queued_.load(std::memory_order_relaxed) != 0) {
    const std::lock_guard lock(mutex_);
    if (Resumable* work = pop_queue()) return work;
  }
  if (Resumable* work = take_slot(self)) return work;
  for (const auto& other : workers_) {
    if (Resumable* work = take_slot(*other)) return work;
  }
  return nullptr;
}

Resumable* SharedExecutor::take_slot(Worker& worker) {
  if (worker.slot.load(std::memory_order_relaxed) == nullptr) return nullptr;
  return worker.slot.exchange(nullptr, std::memory_order_acq_rel);
}

Resumable* SharedExecutor::pop_queue() {
  if (first_ == nullptr) return nullptr;
  num_queued_.fetch_sub(1, std::memory_order_relaxed);
  return std::exchange(first_, first_->next_in_line);
}

}  // namespace forebay
