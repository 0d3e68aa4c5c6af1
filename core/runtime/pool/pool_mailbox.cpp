#include "core/runtime/pool/pool_mailbox.h"

#include <algorithm>
#include <utility>

namespace forebay {

bool PoolMailbox::before(const PoolMail& left, const PoolMail& right) const {
  if (order_ == PoolOrder::kLowestKey && left.key != right.key) return left.key < right.key;
  return left.arrival < right.arrival;
}

bool PoolMailbox::push(PoolMail& mail) {
  mail.arrival = arrivals_;
  if (!fits(mail)) return false;
  if (!waiting_.empty() && !before(mail, waiting_.front()->mail)) return false;
  ++arrivals_;
  insert(std::move(mail));
  return true;
}

void PoolMailbox::insert(PoolMail mail) {
  bytes_ += mail.bytes;
  mail_.push_back(std::move(mail));
  std::push_heap(mail_.begin(), mail_.end(),
                 [this](const PoolMail& a, const PoolMail& b) { return before(b, a); });
}

void PoolMailbox::wait(Waiter& waiter) {
  waiter.mail.arrival = arrivals_++;
  waiting_.push_back(&waiter);
  std::push_heap(waiting_.begin(), waiting_.end(),
                 [this](Waiter* a, Waiter* b) { return before(b->mail, a->mail); });
}

std::optional<PoolMail> PoolMailbox::pop() {
  if (mail_.empty()) return std::nullopt;
  std::pop_heap(mail_.begin(), mail_.end(),
                [this](const PoolMail& a, const PoolMail& b) { return before(b, a); });
  std::optional<PoolMail> next(std::move(mail_.back()));
  mail_.pop_back();
  bytes_ -= next->bytes;
  return next;
}

PoolMailbox::Waiter* PoolMailbox::pop_waiter() {
  std::pop_heap(waiting_.begin(), waiting_.end(),
                [this](Waiter* a, Waiter* b) { return before(b->mail, a->mail); });
  Waiter* next = waiting_.back();
  waiting_.pop_back();
  return next;
}

PoolMailbox::Waiter* PoolMailbox::admit_all() {
  Waiter* chain = nullptr;
  while (!waiting_.empty() && fits(waiting_.front()->mail)) {
    Waiter* next = pop_waiter();
    insert(std::move(next->mail));
    next->admitted = true;
    next->next = std::exchange(chain, next);
  }
  return chain;
}

PoolMailbox::Waiter* PoolMailbox::refuse_all() {
  Waiter* chain = nullptr;
  while (!waiting_.empty()) {
    Waiter* next = pop_waiter();
    next->next = std::exchange(chain, next);
  }
  return chain;
}

void PoolMailbox::unpark_all(Waiter* chain) {
  while (chain != nullptr) {
    Waiter* waiter = std::exchange(chain, chain->next);
    waiter->parker.unpark();
  }
}

std::vector<PoolMail> PoolMailbox::clear() {
  bytes_ = 0;
  return std::exchange(mail_, {});
}

}  // namespace forebay
