#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/envelope.h"
#include "core/runtime/executor.h"
#include "core/runtime/mailbox.h"
#include "core/runtime/receiver.h"
#include "core/runtime/supervisor.h"

namespace forebay {

/// Whose thread an actor runs on.
enum class Placement : std::uint8_t {
  kShared,     ///< One of the executor's: for actors that neither block nor compute for long.
  kOwnThread,  ///< Its own.
};

/// How an actor is to live.
struct SpawnOptions {
  std::string name = "actor";
  std::size_t mailbox_bytes = 1024 * 1024;  ///< The bound, envelopes counted.
  RestartLimit restart = {};                ///< None: the first crash is death.
  Placement placement = Placement::kShared;
  std::size_t stack_bytes = 512 * 1024;  ///< Of a thread of its own.
};

class Actor;
class Cell;

/// Keeps a cell's memory; the actor inside may be dead.
using CellPtr = std::shared_ptr<Cell>;

/// Where an actor lives: its mailbox, its state, and what happens when it crashes.
///
/// Runs one message at a time on whatever thread its executor lends. What escapes a handler is
/// caught here: the actor is made again by its factory as often as the restart limit allows,
/// then it is dead. What was queued survives a restart and is refused at death. Any thread may
/// push and watch.
class Cell final : public Resumable, public Receiver, public std::enable_shared_from_this<Cell> {
 public:
  using Factory = std::function<std::unique_ptr<Actor>()>;

  Cell(ActorHost& host, ActorId id, SpawnOptions options, Factory factory, Executor& executor);
  ~Cell() override;
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  Status push(EnvelopePtr& envelope, MailboxCredit credit) override;

  /// Takes `envelope`, room or not, when `delay` is over and the actor still lives.
  void push_after(std::chrono::nanoseconds delay, EnvelopePtr envelope);

  void watch(ReceiverPtr watcher) override;
  void stop_behind_queue() override;

  /// Lets it end after the message it holds; what is queued is refused.
  void stop_now();

  /// From inside a handler: ends after this message.
  void end_after_message() { ending_ = true; }

  Next resume(std::size_t messages) override;

  /// The host's list of the living, and what keeps this cell while it is in it.
  struct Living {
    CellPtr self;
    Cell* before = nullptr;
    Cell* after = nullptr;
  };
  Living living;  // under the host's mutex

  const std::string& name() const { return options_.name; }
  std::size_t queued_bytes() const { return mailbox_.bytes(); }

 private:
  void run_messages(std::size_t& budget, EnvelopePtr& current);
  void handle_crash(Envelope* current, const Error& crash);
  void die();
  void send_down(Receiver& watcher) const;

  std::atomic<bool> drop_queue_{false};
  bool ending_ = false;         // the reader's, as those below
  std::optional<Error> crash_;  // why it ends, if not in good order
  std::unique_ptr<Actor> actor_;
  Mailbox mailbox_;
  Executor& executor_;
  const SpawnOptions options_;
  const Factory factory_;
  Supervisor supervisor_;
  std::mutex mutex_;
  std::vector<ReceiverPtr> watchers_;  // under mutex_
  bool dead_ = false;                  // under mutex_; then crash_ does not change
};

}  // namespace forebay
