#include "core/node/link_tables.h"

#include <algorithm>
#include <utility>

namespace forebay {

const MessageType* type_of(std::span<const MessageType* const> types, std::uint64_t number) {
  const auto found = std::ranges::find_if(types, [number](const MessageType* one) {
    return one->wire != nullptr && one->wire->number == number;
  });
  return found == types.end() ? nullptr : *found;
}

Status LinkTables::status() const {
  if (!has_ended_.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(mutex_);
  return tl::unexpected<Error>(*ended_);
}

Status LinkTables::keep_question(std::uint64_t number, EnvelopePtr& envelope) {
  const std::lock_guard lock(mutex_);
  if (ended_) return tl::unexpected<Error>(*ended_);
  if (left_.questions.size() >= limits_.max_questions) {
    return fail(Code::kOverloaded, "the peer has not answered " +
                                       std::to_string(left_.questions.size()) + " questions");
  }
  left_.questions.emplace(number, std::move(envelope));
  return {};
}

EnvelopePtr LinkTables::take_question(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  auto found = left_.questions.extract(number);
  return found ? std::move(found.mapped()) : nullptr;
}

Status LinkTables::export_actor(const AnyActor& actor) {
  const std::lock_guard lock(mutex_);
  if (ended_) return tl::unexpected<Error>(*ended_);
  const auto number = static_cast<std::uint64_t>(actor.receiver->id());
  auto found = exported_.find(number);
  if (found == exported_.end()) {
    if (exported_.size() >= limits_.max_exports) {
      return fail(Code::kOverloaded, "the peer has been given " + std::to_string(exported_.size()) +
                                         " refs, more are not kept");
    }
    found = exported_.emplace(number, Exported{actor.receiver, {}, 0}).first;
  }
  ++found->second.messages;
  std::vector<const MessageType*>& types = found->second.types;
  for (const MessageType* type : actor.types) {
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  return {};
}

void LinkTables::take_back(std::uint64_t target) {
  decltype(exported_)::node_type gone;  // The actor is released after the lock.
  const std::lock_guard lock(mutex_);
  const auto found = exported_.find(target);
  if (found != exported_.end() && --found->second.messages == 0) gone = exported_.extract(found);
}

void LinkTables::forget(std::uint64_t target) {
  decltype(exported_)::node_type gone;  // The actor is released after the lock.
  const std::lock_guard lock(mutex_);
  gone = exported_.extract(target);
}

LinkTarget LinkTables::exported(std::uint64_t target, std::uint64_t type) const {
  const std::lock_guard lock(mutex_);
  const auto found = exported_.find(target);
  if (found == exported_.end()) return {};
  return {found->second.receiver, type_of(found->second.types, type)};
}

Status LinkTables::add_watcher(std::uint64_t target, Watcher watcher) {
  const std::lock_guard lock(mutex_);
  if (ended_) return tl::unexpected<Error>(*ended_);
  left_.watchers[target].push_back(std::move(watcher));
  return {};
}

std::vector<LinkTables::Watcher> LinkTables::take_watchers(std::uint64_t target) {
  const std::lock_guard lock(mutex_);
  auto found = left_.watchers.extract(target);
  return found ? std::move(found.mapped()) : std::vector<Watcher>();
}

bool LinkTables::begin_watch() {
  const std::lock_guard lock(mutex_);
  if (num_watched_ >= limits_.max_watches) return false;
  ++num_watched_;
  return true;
}

void LinkTables::end_watch() {
  const std::lock_guard lock(mutex_);
  --num_watched_;
}

std::optional<LinkTables::Left> LinkTables::end(const Error& reason) {
  decltype(exported_) exported;  // The actors are released after the lock.
  const std::lock_guard lock(mutex_);
  if (ended_) return std::nullopt;
  ended_ = reason;
  has_ended_.store(true, std::memory_order_release);
  exported.swap(exported_);
  return std::exchange(left_, {});
}

}  // namespace forebay
