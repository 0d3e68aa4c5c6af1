#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/runtime/actor_ref.h"
#include "core/runtime/envelope.h"
#include "core/runtime/executor/executor.h"
#include "core/runtime/mailbox.h"
#include "core/runtime/supervisor.h"
#include "core/runtime/turn_meter.h"

namespace forebay {

/// The thread that an actor runs on.
enum class Placement : std::uint8_t {
  kShared,     ///< A thread of the executor: for actors that neither block nor compute for long.
  kOwnThread,  ///< A thread of its own.
};

/// Options of a new actor.
struct SpawnOptions {
  std::string name = "actor";
  std::size_t mailbox_bytes = 1024 * 1024;  ///< Limit of the queued bytes, including envelopes.
  RestartLimit restart = {};                ///< By default the first crash ends the actor.
  Placement placement = Placement::kShared;
  std::shared_ptr<TurnMeter> meter = {};  ///< Null: the actor is not measured.
  std::size_t stack_bytes = 512 * 1024;   ///< Of a thread of its own.
  /// Called on the actor's thread after each exception of a handler, before the asker gets it as an
  /// error, and before the actor starts again or ends. The message that was handled is lost.
  std::function<void(const Error&)> on_crash = {};
};

class Actor;
class Cell;

/// Keeps a cell's memory alive; the actor inside may be dead.
using CellPtr = std::shared_ptr<Cell>;

/// Holds an actor: its mailbox, its state, and the handling of its crashes.
///
/// Handles one message at a time on a thread of its executor. Catches exceptions of handlers: the
/// factory then creates the actor again, as often as the restart limit allows; after that the actor
/// is dead. Queued messages survive a restart and are refused at death. Any thread may push and
/// watch.
class Cell final : public Resumable, public Receiver, public std::enable_shared_from_this<Cell> {
 public:
  using Factory = std::function<std::unique_ptr<Actor>()>;

  Cell(ActorHost& host, ActorId id, SpawnOptions options, Factory factory, Executor& executor);
  ~Cell() override;
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  Status push(EnvelopePtr& envelope, MailboxCredit credit) override;

  /// Delivers `envelope` after `delay`, even to a full mailbox, if the actor still lives.
  void push_after(std::chrono::nanoseconds delay, EnvelopePtr envelope);

  void watch(ReceiverPtr watcher) override;
  void stop_behind_queue() override;
  const std::string& name() const { return name_; }
  std::size_t waiting_bytes() const override { return mailbox_.bytes(); }

  /// Ends the actor after its current message; queued messages are refused.
  void stop_now();

  /// Called from inside a handler: ends the actor after the current message.
  void end_after_message() { ending_ = true; }

  Next resume(std::size_t messages) override;

  /// In the host's list of living actors, which keeps the cell alive; under the host's mutex.
  std::list<CellPtr>::iterator living;

 private:
  void run_turn(std::size_t budget);
  void run_messages(std::size_t& budget, EnvelopePtr& current);
  void handle_crash(Envelope* current, const Error& crash);
  void die();
  Down down() const;

  // Most actors of a large system wait, so the members are kept small.
  std::atomic<bool> drop_queue_{false};
  bool ending_ = false;                 // used by the reader only, as those below
  std::unique_ptr<const Error> crash_;  // why the actor ends; null if it ends in an orderly way
  std::unique_ptr<Actor> actor_;
  Mailbox mailbox_;
  Executor& executor_;
  const std::string name_;
  const std::shared_ptr<TurnMeter> meter_;  // may be null
  const std::function<void(const Error&)> on_crash_;
  const Factory factory_;
  Supervisor supervisor_;
  std::mutex mutex_;
  std::vector<ReceiverPtr> watchers_;  // under mutex_
  bool dead_ = false;                  // under mutex_; then crash_ does not change
};

}  // namespace forebay
