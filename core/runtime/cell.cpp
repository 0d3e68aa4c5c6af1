#include "core/runtime/cell.h"

#include "core/base/clock.h"
#include "core/base/deadline.h"
#include "core/runtime/actor.h"
#include "core/runtime/actor_host.h"

namespace forebay {
namespace {

/// Runtime → actor: end when this message is handled.
struct StopOrder {
  static constexpr std::string_view kTag = "runtime.stop/1";
};

}  // namespace

Cell::Cell(ActorHost& host, ActorId id, SpawnOptions options, Factory factory, Executor& executor)
    : Receiver(host, id),
      mailbox_(options.mailbox_bytes),
      executor_(executor),
      name_(std::move(options.name)),
      meter_(std::move(options.meter)),
      on_crash_(std::move(options.on_crash)),
      factory_(std::move(factory)),
      supervisor_(options.restart) {}

Cell::~Cell() = default;

Status Cell::push(EnvelopePtr& envelope, MailboxCredit credit) {
  switch (mailbox_.push(envelope, credit)) {
    case Mailbox::Push::kWake:
      executor_.submit(*this);
      return {};
    case Mailbox::Push::kBacklog:
      executor_.nudge();
      return {};
    case Mailbox::Push::kQueued:
      return {};
    case Mailbox::Push::kFull:
      return fail(Code::kOverloaded, "mailbox of actor " + name_ + " is full: " +
                                         std::to_string(mailbox_.bytes()) + " bytes");
    case Mailbox::Push::kClosed:
      break;
  }
  return fail(Code::kNotFound, "actor " + name_ + " is dead");
}

void Cell::push_after(std::chrono::nanoseconds delay, EnvelopePtr envelope) {
  // The timer queue requires copyable functions, and an envelope is move-only: so it is shared.
  auto waiting = std::make_shared<EnvelopePtr>(std::move(envelope));
  host().timers().add(deadline_after(host().clock().now(), delay),
                      [cell = weak_from_this(), waiting] {
                        const CellPtr alive = cell.lock();
                        if (alive != nullptr)
                          static_cast<void>(alive->push(*waiting, MailboxCredit::kExempt));
                      });
}

Cell::Next Cell::resume(std::size_t messages) {
  run_turn(messages);
  mailbox_.give_credit();
  if (ending_) {
    die();
    return Next::kDone;
  }
  // Once asleep, the actor may run elsewhere at once.
  return mailbox_.sleep() ? Next::kAwait : Next::kMore;
}

void Cell::run_turn(std::size_t budget) {
  const MeteredTurn measured(meter_.get(), host().clock());
  // Once: messages sent meanwhile, also by the actor itself, wait for the next turn.
  mailbox_.fetch();
  while (!ending_ && budget > 0) {
    EnvelopePtr current;
    const auto crash = catch_crash([&] { run_messages(budget, current); });
    if (!crash) break;
    handle_crash(current.get(), *crash);
  }
}

void Cell::run_messages(std::size_t& budget, EnvelopePtr& current) {
  if (actor_ == nullptr) actor_ = factory_();
  while (budget > 0) {
    current = mailbox_.pop();
    if (current == nullptr) return;
    --budget;
    if (current->type == kTypeOf<StopOrder> || drop_queue_.load(std::memory_order_relaxed)) {
      ending_ = true;
      return;
    }
    Context context(*this);
    const Status status = actor_->receive(*current, context);
    if (!status) host().report(id(), status.error());
    if (ending_) return;
  }
}

void Cell::handle_crash(Envelope* current, const Error& crash) {
  // A second exception would say no more than the first one did.
  if (on_crash_) static_cast<void>(catch_crash([&] { on_crash_(crash); }));
  if (current != nullptr) current->type->refuse(*current, crash);
  actor_.reset();  // Its state may be broken.
  if (meter_ != nullptr) meter_->count_crash();
  if (supervisor_.allow_restart(host().clock().now())) return;
  crash_ = std::make_unique<const Error>(crash);
  ending_ = true;
}

void Cell::die() {
  actor_.reset();
  mailbox_.close();
  std::vector<ReceiverPtr> watchers;
  {
    const std::lock_guard lock(mutex_);
    dead_ = true;
    watchers = std::exchange(watchers_, {});
  }
  for (const ReceiverPtr& watcher : watchers) deliver(*watcher, down());
  host().forget(*this);  // May release the last reference to this cell.
}

void Cell::watch(ReceiverPtr watcher) {
  {
    const std::lock_guard lock(mutex_);
    if (!dead_) {
      watchers_.push_back(std::move(watcher));
      return;
    }
  }
  deliver(*watcher, down());
}

Down Cell::down() const {
  return {id(), crash_ == nullptr ? std::nullopt : std::optional(*crash_)};
}

void Cell::stop_behind_queue() { deliver(*this, StopOrder{}); }

void Cell::stop_now() {
  drop_queue_.store(true, std::memory_order_relaxed);
  stop_behind_queue();
}

}  // namespace forebay
