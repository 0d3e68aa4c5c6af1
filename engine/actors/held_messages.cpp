#include "engine/actors/held_messages.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/actors/objects/objects.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

/// For room among the objects here, which others take while they are on their way.
constexpr std::chrono::seconds kRoomPatience(10);
constexpr std::chrono::milliseconds kRetry(20);

}  // namespace

Status HeldMessages::add(UserMessage& message, Asker& asker, ActorFinder& finder,
                         const ReceiverPtr& actor) {
  const std::size_t bytes = bytes_of(message);
  if (bytes_ != 0 && bytes_ + bytes > limit_) {
    return fail(Code::kOverloaded,
                "too much waits behind a large message: " + std::to_string(bytes_) + " bytes");
  }
  bytes_ += bytes;
  PackedValue& packed = *message.value.packed;
  Held held{.ready = {.message = std::move(message), .asker = std::move(asker), .bytes = {}},
            .number = ++last_number_,
            .until = actor->host().clock().now() + kRoomPatience};
  if (packed.large) held.object = finder.object_of(*std::exchange(packed.large, std::nullopt));
  std::deque<Held>& queue = queues_[packed.sender];
  queue.push_back(std::move(held));
  if (queue.back().object != nullptr) begin_fetch(queue.back(), actor, 0ns);
  return {};
}

void HeldMessages::begin_fetch(Held& held, const ReceiverPtr& actor,
                               std::chrono::nanoseconds delay) {
  held.is_coming = true;
  const auto begin = [number = held.number, sender = held.ready.message.value.packed->sender](
                         const auto& self, const auto& receiver, const auto& object) {
    fetch(object, [self, receiver, sender, number](Result<Frame> bytes) {
      deliver(*receiver, HeldReady{self, sender, number, std::move(bytes)});
    });
  };
  if (delay == 0ns) return begin(shared_from_this(), actor, held.object);
  // A timer may outlive the actor and its node, so it keeps nothing of theirs.
  actor->host().timers().add(actor->host().clock().now() + delay,
                             [begin, held_here = weak_from_this(), receiver = std::weak_ptr(actor),
                              wanted = std::weak_ptr(held.object)] {
                               const auto self = held_here.lock();
                               const auto there = receiver.lock();
                               const auto object = wanted.lock();
                               if (self != nullptr && there != nullptr && object != nullptr)
                                 begin(self, there, object);
                             });
}

void HeldMessages::take(HeldReady& ready, std::chrono::nanoseconds now) {
  const auto queue = queues_.find(ready.sender);
  if (queue == queues_.end()) return;
  const auto held = std::ranges::find(queue->second, ready.number, &Held::number);
  if (held == queue->second.end()) return;
  held->is_coming = false;
  if (ready.bytes) {
    held->ready.message.value.packed->fetched = std::move(*ready.bytes);
    return;
  }
  held->again = ready.bytes.error().code == Code::kOverloaded && now < held->until;
  held->ready.bytes = pass(ready.bytes);
}

std::optional<HeldMessages::Ready> HeldMessages::next(std::uint64_t sender,
                                                      const ReceiverPtr& actor) {
  const auto queue = queues_.find(sender);
  if (queue == queues_.end() || queue->second.front().is_coming) return std::nullopt;
  Held& first = queue->second.front();
  if (std::exchange(first.again, false)) {
    first.ready.bytes = {};
    begin_fetch(first, actor, std::exchange(first.has_been_first, true) ? kRetry : 0ns);
    return std::nullopt;
  }
  Ready ready = std::move(first.ready);
  bytes_ -= bytes_of(ready.message);
  queue->second.pop_front();
  if (queue->second.empty()) {
    queues_.erase(queue);
  } else {
    deliver(*actor, HeldReady{shared_from_this(), sender, 0, {}});
  }
  return ready;
}

}  // namespace forebay
