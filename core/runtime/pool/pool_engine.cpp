#include "core/runtime/pool/pool_engine.h"

#include <pthread.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/check.h"
#include "core/base/thread/start_thread.h"
#include "core/runtime/supervisor.h"

namespace forebay {

/// One actor: its counters, its parker and its thread. The thread starts last and is joined first.
struct PoolEngine::Actor {
  Actor(PoolEngine& pool, std::uint32_t actor_number)
      : number(actor_number),
        meter(pool.clock_.now()),
        context(number, pool.cancelled_, meter, pool.clock_),
        thread({.name = pool.options_.name + "-" + std::to_string(number),
                .stack_bytes = pool.options_.stack_bytes},
               [this, &pool] { pool.run(*this); }) {}

  const std::uint32_t number;
  ActorMeter meter;
  PoolContext context;
  Parker parker;
  std::optional<clockid_t> cpu_clock;  // set by the thread, under the pool's mutex
  std::size_t alive = 0;               // actors in the pool when this one took its message
  bool slept = false;                  // whether it slept before it took its message
  Thread thread;
};

PoolEngine::PoolEngine(Options options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      mailbox_(options_.mailbox_bytes, options_.order) {}

PoolEngine::~PoolEngine() {
  cancel();
  join();
}

bool PoolEngine::offer(PoolMail& mail, PoolContext* caller) {
  PoolMailbox::Waiter waiter;
  {
    std::unique_lock lock(mutex_);
    if (closed_) return false;
    if (push(lock, mail)) return true;
    waiter.mail = std::move(mail);
    mailbox_.wait(waiter);
  }
  std::optional<PoolContext::OutputWait> waiting;
  if (caller != nullptr) waiting.emplace(*caller);
  waiter.parker.park();
  if (!waiter.admitted) mail = std::move(waiter.mail);
  return waiter.admitted;
}

Status PoolEngine::try_offer(PoolMail& mail) {
  std::unique_lock lock(mutex_);
  if (closed_) return fail(Code::kUnavailable, "pool " + options_.name + " takes no more");
  if (push(lock, mail)) return {};
  return fail(Code::kOverloaded, "mailbox of pool " + options_.name +
                                     " is full: " + std::to_string(mailbox_.bytes()) + " bytes");
}

bool PoolEngine::push(std::unique_lock<std::mutex>& lock, PoolMail& mail) {
  if (!mailbox_.push(mail)) return false;
  if (on_demand_ && serving_locked() == 0) {
    const std::optional<Error> crash = grow_locked(1);
    retiring_ = serving_locked();
    lock.unlock();
    if (crash) report(*crash);
    return true;
  }
  if (sleepers_.empty()) return true;
  Actor* warmest = sleepers_.back();
  sleepers_.pop_back();
  lock.unlock();
  warmest->parker.unpark();
  return true;
}

void PoolEngine::grow(std::size_t count) {
  std::optional<Error> crash;
  {
    const std::lock_guard lock(mutex_);
    on_demand_ = false;
    crash = grow_locked(count);
  }
  if (crash) report(*crash);
}

void PoolEngine::resize(std::size_t target) {
  std::optional<Error> crash;
  std::vector<Actor*> wake;
  {
    const std::lock_guard lock(mutex_);
    on_demand_ = target == 0;
    const std::size_t staying = staying_locked();
    if (target > staying) {
      crash = grow_locked(target - staying);
    } else {
      wake = shrink_locked(staying - target);
    }
  }
  if (crash) report(*crash);
  for (Actor* actor : wake) actor->parker.unpark();
}

std::optional<Error> PoolEngine::grow_locked(std::size_t count) {
  if (cancelled_ || told_drained_) return std::nullopt;
  const std::size_t kept = std::min(count, retiring_);
  retiring_ -= kept;
  return catch_crash([&] {  // The system may have no thread left.
    for (std::size_t i = kept; i < count; ++i) {
      actors_.push_back(std::make_unique<Actor>(*this, num_started_));
      ++num_started_;
    }
  });
}

std::vector<PoolEngine::Actor*> PoolEngine::shrink_locked(std::size_t count) {
  count = std::min(count, staying_locked());
  retiring_ += count;
  // The least recently used sleepers go first; a busy actor sees the request after its message.
  const auto woken = static_cast<std::ptrdiff_t>(std::min(count, sleepers_.size()));
  std::vector<Actor*> wake(sleepers_.begin(), sleepers_.begin() + woken);
  sleepers_.erase(sleepers_.begin(), sleepers_.begin() + woken);
  return wake;
}

void PoolEngine::set_mailbox_bytes(std::size_t bytes) {
  PoolMailbox::Waiter* admitted = nullptr;
  {
    const std::lock_guard lock(mutex_);
    mailbox_.set_limit(bytes);
    // Wakes no actor: while offers wait, mail is queued and no actor sleeps.
    admitted = mailbox_.admit_all();
  }
  PoolMailbox::unpark_all(admitted);
}

void PoolEngine::close() { stop(Stop::kDrain); }

void PoolEngine::cancel() { stop(Stop::kDrop); }

void PoolEngine::stop(Stop how) {
  std::vector<Actor*> wake;
  std::map<PoolMailbox::Place, PoolMail> dropped;
  PoolMailbox::Waiter* refused = nullptr;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    if (how == Stop::kDrop) {
      cancelled_ = true;
      dropped = mailbox_.clear();
    }
    refused = mailbox_.refuse_all();
    wake = std::exchange(sleepers_, {});
  }
  PoolMailbox::unpark_all(refused);
  for (Actor* actor : wake) actor->parker.unpark();
  tell_drained_once();
}

void PoolEngine::join() {
  std::unique_ptr<Actor> last;
  std::unique_lock lock(mutex_);
  left_.wait(lock, [this] { return actors_.empty(); });
  last = std::move(last_left_);
  lock.unlock();  // The last actor may still need the mutex while it ends.
}

void PoolEngine::run(Actor& self) {
  {
    const std::lock_guard lock(mutex_);
    clockid_t cpu_clock{};
    if (pthread_getcpuclockid(pthread_self(), &cpu_clock) == 0) self.cpu_clock = cpu_clock;
  }
  std::optional<ServiceMeter> service;
  if (options_.measures_service) self.context.measure_with(service.emplace());
  std::unique_ptr<ParcelWorker> worker;
  PoolMail mail;
  while (make_worker(worker) && next_mail(self, mail)) work(self, mail, worker);
  worker.reset();
  leave(self);
}

bool PoolEngine::make_worker(std::unique_ptr<ParcelWorker>& worker) {
  if (worker != nullptr) return true;
  const std::optional<Error> crash = catch_crash([&] { worker = options_.factory(); });
  if (crash) {
    report(*crash);
    const std::lock_guard lock(mutex_);
    begin_leaving();
    return false;
  }
  FOREBAY_CHECK(worker != nullptr);
  return true;
}

bool PoolEngine::next_mail(Actor& self, PoolMail& mail) {
  self.slept = false;
  while (true) {
    std::unique_lock lock(mutex_);
    const bool retires = retiring_ > 0 && (mailbox_.empty() || serving_locked() > 1);
    if (retires || cancelled_ || (closed_ && mailbox_.empty())) {
      begin_leaving();
      return false;
    }
    if (std::optional<PoolMail> next = mailbox_.pop()) {
      PoolMailbox::Waiter* admitted = mailbox_.admit_all();
      self.alive = actors_.size();
      lock.unlock();
      PoolMailbox::unpark_all(admitted);
      mail = std::move(*next);
      return true;
    }
    sleepers_.push_back(&self);
    lock.unlock();
    self.parker.park();
    self.slept = true;
  }
}

void PoolEngine::begin_leaving() {
  if (retiring_ > 0) --retiring_;
  ++leaving_;
}

void PoolEngine::work(Actor& self, PoolMail& mail, std::unique_ptr<ParcelWorker>& worker) {
  ServiceMeter* const service = self.context.service();
  const auto began = clock_.now();
  self.meter.start_message(mail.key, began);
  if (service != nullptr) service->start(began, self.alive, self.slept);
  Status status;
  const std::optional<Error> crash =
      catch_crash([&] { status = worker->handle(mail.parcel.get(), self.context); });
  mail.parcel.reset();
  const auto ended = clock_.now();
  const Service took = service != nullptr ? service->finish(ended) : Service();
  self.meter.finish_message(mail.bytes, ended, took);
  if (crash) {
    worker.reset();  // Its state may be broken; the next message gets a new worker.
    report(*crash);
  } else if (!status) {
    report(status.error());
  }
}

void PoolEngine::report(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    ++failures_;
  }
  if (options_.on_failure) options_.on_failure(error);
}

void PoolEngine::leave(Actor& self) {
  std::unique_ptr<Actor> previous;
  {
    const std::lock_guard lock(mutex_);
    --leaving_;
    left_totals_ += totals_of(self, self.meter.read(clock_.now()));
    const auto found = std::find_if(actors_.begin(), actors_.end(),
                                    [&](const auto& actor) { return actor.get() == &self; });
    previous = std::exchange(last_left_, std::move(*found));
    actors_.erase(found);
    left_.notify_all();
  }
  previous.reset();  // Joins the previous thread, which has only these same steps left.
  tell_drained_once();
}

void PoolEngine::tell_drained_once() {
  {
    const std::lock_guard lock(mutex_);
    const bool drained = closed_ && !cancelled_ && actors_.empty() && mailbox_.empty();
    if (!drained || told_drained_) return;
    told_drained_ = true;
  }
  if (options_.on_drained) options_.on_drained();
}

ActorTotals PoolEngine::totals_of(const Actor& actor, const ActorMeter::Reading& reading) {
  ActorTotals totals = reading.totals;
  // The thread is alive: it leaves the list of actors before it ends.
  if (actor.cpu_clock) totals.cpu = thread_cpu_time(*actor.cpu_clock);
  return totals;
}

PoolStats PoolEngine::stats() const {
  const std::lock_guard lock(mutex_);
  const std::chrono::nanoseconds now = clock_.now();
  PoolStats stats{.actors = actors_.size(),
                  .retiring = retiring_ + leaving_,
                  .queued_messages = mailbox_.size(),
                  .queued_bytes = mailbox_.bytes(),
                  .mailbox_bytes = mailbox_.limit(),
                  .waiting_offers = mailbox_.num_waiting(),
                  .failures = failures_,
                  .totals = left_totals_,
                  .each = {}};
  stats.each.reserve(actors_.size());
  for (const auto& actor : actors_) {
    const ActorMeter::Reading reading = actor->meter.read(now);
    stats.totals += totals_of(*actor, reading);
    stats.each.push_back({actor->number, reading.state, reading.since, reading.key});
  }
  return stats;
}

std::size_t PoolEngine::actors() const {
  const std::lock_guard lock(mutex_);
  return actors_.size();
}

std::size_t PoolEngine::retiring() const {
  const std::lock_guard lock(mutex_);
  return retiring_ + leaving_;
}

std::size_t PoolEngine::queued() const {
  const std::lock_guard lock(mutex_);
  return mailbox_.size();
}

}  // namespace forebay
