#pragma once

#include <concepts>
#include <utility>

#include "core/base/check.h"
#include "core/runtime/cell.h"

namespace forebay {

template <class M, class... Ms>
concept OneOf = (std::same_as<M, Ms> || ...);

/// Reaches an actor that understands the messages listed. A value: copy it, keep it, send it;
/// it outlives the actor, whose death shows as kNotFound. Any thread.
template <class... Ms>
class ActorRef {
 public:
  ActorRef() = default;
  explicit ActorRef(CellPtr cell) : cell_(std::move(cell)) {}

  /// A ref that can less.
  template <class... Others>
  requires(sizeof...(Others) > sizeof...(Ms) && (OneOf<Ms, Others...> && ...))
      ActorRef(const ActorRef<Others...>& other)  // NOLINT(google-explicit-constructor)
      : cell_(other.cell()) {}

  /// Moves `message` into the actor's mailbox; `sender` is what its handler sees as sender.
  /// Messages of one thread to one actor are handled in their order. Refuses, with `message`
  /// untouched, with kOverloaded when the mailbox has no room, kNotFound when the actor is dead.
  template <Message M>
  requires OneOf<M, Ms...> Status tell(M&& message, ActorId sender = ActorId::kNobody)
  const {
    if (cell_ == nullptr) return fail(Code::kNotFound, "no actor is named");
    EnvelopePtr envelope = seal(std::forward<M>(message), sender);
    Status status = cell_->push(envelope, Room::kAsk);
    if (!status) message = std::move(static_cast<EnvelopeOf<M>&>(*envelope).message);
    return status;
  }

  /// Lets the actor end in good order behind what is queued.
  void stop() const {
    if (cell_ != nullptr) cell_->stop_behind_queue();
  }

  ActorId id() const { return cell_ == nullptr ? ActorId::kNobody : cell_->id(); }
  const CellPtr& cell() const { return cell_; }
  bool operator==(const ActorRef&) const = default;

 private:
  CellPtr cell_;
};

/// Sends `watcher` a Down when the actor dies, or at once when it has. Any thread. Both refs
/// name somebody.
template <class... Ms>
void watch(const ActorRef<Ms...>& actor, const ActorRef<Down>& watcher) {
  FOREBAY_CHECK(actor.cell() != nullptr && watcher.cell() != nullptr);
  actor.cell()->watch(watcher.cell());
}

}  // namespace forebay
