#include "core/runtime/mailbox.h"

#include <utility>

namespace forebay {
namespace {

// Markers in top_. Only their addresses count: no envelope is there. A null top_ means that
// the mailbox is empty and the reader awake.
Envelope* asleep() {
  static constinit Envelope marked;
  return &marked;
}
Envelope* closed() {
  static constinit Envelope marked;
  return &marked;
}

}  // namespace

Mailbox::Mailbox(std::size_t limit_bytes) : top_(asleep()), limit_(limit_bytes) {}

Mailbox::~Mailbox() { close(); }

Mailbox::Push Mailbox::push(EnvelopePtr& envelope, MailboxCredit credit) {
  const std::size_t bytes = envelope->bytes;
  const std::size_t before = bytes_.fetch_add(bytes, std::memory_order_relaxed);
  if (credit == MailboxCredit::kRequired && before != 0 && before + bytes > limit_) {
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return top_.load(std::memory_order_relaxed) == closed() ? Push::kClosed : Push::kFull;
  }
  Envelope* top = top_.load(std::memory_order_relaxed);
  do {
    if (top == closed()) {
      bytes_.fetch_sub(bytes, std::memory_order_relaxed);
      return Push::kClosed;
    }
    envelope->next = top == asleep() ? nullptr : top;
  } while (!top_.compare_exchange_weak(top, envelope.get(), std::memory_order_acq_rel,
                                       std::memory_order_relaxed));
  static_cast<void>(envelope.release());
  if (top == asleep()) return Push::kWake;
  return before / kBacklogStep == (before + bytes) / kBacklogStep ? Push::kQueued : Push::kBacklog;
}

EnvelopePtr Mailbox::pop() {
  if (first_ == nullptr) return nullptr;
  EnvelopePtr next(std::exchange(first_, first_->next));
  __builtin_prefetch(first_);  // It may have left the cache since fetch().
  popped_bytes_ += next->bytes;
  return next;
}

void Mailbox::fetch() {
  if (first_ != nullptr || top_.load(std::memory_order_relaxed) == nullptr) return;
  Envelope* list = top_.exchange(nullptr, std::memory_order_acquire);
  while (list != nullptr) {  // The newest is on top: reverse the list.
    Envelope* rest = std::exchange(list->next, first_);
    first_ = std::exchange(list, rest);
  }
}

void Mailbox::give_credit() {
  if (popped_bytes_ == 0) return;
  bytes_.fetch_sub(std::exchange(popped_bytes_, 0), std::memory_order_relaxed);
}

bool Mailbox::sleep() {
  if (first_ != nullptr) return false;
  Envelope* awake = nullptr;
  return top_.compare_exchange_strong(awake, asleep(), std::memory_order_release,
                                      std::memory_order_relaxed);
}

void Mailbox::close() {
  Envelope* top = top_.exchange(closed(), std::memory_order_acq_rel);
  drop(std::exchange(first_, nullptr));
  if (top != asleep() && top != closed()) drop(top);
}

void Mailbox::drop(Envelope* list) {
  while (list != nullptr) EnvelopePtr(std::exchange(list, list->next));
}

}  // namespace forebay
