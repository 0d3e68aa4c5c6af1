#include "core/runtime/pool/pool_mailbox.h"

namespace forebay {

bool PoolMailbox::push(PoolMail& mail) {
  const Place place = next_place(mail);
  if (!fits(mail) || (!waiting_.empty() && place > waiting_.begin()->first)) return false;
  ++arrivals_;
  insert(place, std::move(mail));
  return true;
}

void PoolMailbox::insert(Place place, PoolMail mail) {
  bytes_ += mail.bytes;
  mail_.emplace(place, std::move(mail));
}

void PoolMailbox::wait(Waiter& waiter) {
  waiting_.emplace(next_place(waiter.mail), &waiter);
  ++arrivals_;
}

std::optional<PoolMail> PoolMailbox::pop() {
  if (mail_.empty()) return std::nullopt;
  std::optional<PoolMail> next(std::move(mail_.extract(mail_.begin()).mapped()));
  bytes_ -= next->bytes;
  return next;
}

PoolMailbox::Waiter* PoolMailbox::admit_all() {
  Waiter* chain = nullptr;
  while (!waiting_.empty() && fits(waiting_.begin()->second->mail)) {
    const auto [place, next] = *waiting_.begin();
    waiting_.erase(waiting_.begin());
    insert(place, std::move(next->mail));
    next->admitted = true;
    next->next = std::exchange(chain, next);
  }
  return chain;
}

PoolMailbox::Waiter* PoolMailbox::refuse_all() {
  Waiter* chain = nullptr;
  for (const auto& [place, next] : std::exchange(waiting_, {})) {
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

std::map<PoolMailbox::Place, PoolMail> PoolMailbox::clear() {
  bytes_ = 0;
  return std::exchange(mail_, {});
}

}  // namespace forebay
