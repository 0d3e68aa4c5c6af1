#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/runtime/executor/parker.h"

namespace forebay {

/// A message with the attributes that the mailbox needs.
struct PoolMail {
  std::shared_ptr<void> parcel;  ///< The message, without its static type.
  std::size_t bytes = 0;
  std::uint64_t key = 0;
};

/// The order in which mail is served.
enum class PoolOrder : std::uint8_t {
  kArrival,    ///< First in, first out.
  kLowestKey,  ///< Smallest key first; in order of arrival for equal keys.
};

/// Holds mail up to a limit in bytes, and the offers that wait for space.
///
/// Owns the mail; a waiter stays on the stack of its own thread. An empty mailbox accepts one mail
/// of any size. Waiting mail enters in the same order as it would leave, and later mail cannot
/// overtake it. Not thread-safe: guarded by its pool's mutex.
class PoolMailbox {
 public:
  /// One offer that waits for space. Lives until its parker is unparked.
  struct Waiter {
    PoolMail mail;           ///< Taken when admitted, left when refused.
    bool admitted = false;   ///< Set before the unpark.
    Waiter* next = nullptr;  ///< In a chain of waiters to unpark.
    Parker parker;
  };

  PoolMailbox(std::size_t limit, PoolOrder order) : limit_(limit), order_(order) {}

  /// Takes `mail` if it fits and no waiting mail precedes it; otherwise leaves it unchanged.
  [[nodiscard]] bool push(PoolMail& mail);

  /// Adds an offer that did not fit to the waiting offers.
  void wait(Waiter& waiter);

  /// Removes and returns the next mail to serve; nothing if the mailbox is empty.
  std::optional<PoolMail> pop();

  /// Admits the waiting offers that fit now, in order. Returns a chain for unpark_all.
  [[nodiscard]] Waiter* admit_all();

  /// Removes all waiting offers without admitting them. Returns a chain for unpark_all.
  [[nodiscard]] Waiter* refuse_all();

  /// Wakes a chain of waiters, each of which may be destroyed at once. Call it without the pool's
  /// mutex.
  static void unpark_all(Waiter* chain);

  /// A key, or 0 in order of arrival, and the number of the arrival.
  using Place = std::pair<std::uint64_t, std::uint64_t>;

  /// Removes and returns all queued mail.
  std::map<Place, PoolMail> clear();

  bool empty() const { return mail_.empty(); }
  std::size_t size() const { return mail_.size(); }
  std::size_t bytes() const { return bytes_; }
  std::size_t limit() const { return limit_; }
  /// Queued mail stays. Call `admit_all` for the offers that fit now.
  void set_limit(std::size_t limit) { limit_ = limit; }
  std::size_t num_waiting() const { return waiting_.size(); }

 private:
  bool fits(const PoolMail& mail) const { return mail_.empty() || bytes_ + mail.bytes <= limit_; }
  Place next_place(const PoolMail& mail) const {
    return {order_ == PoolOrder::kLowestKey ? mail.key : 0, arrivals_};
  }
  void insert(Place place, PoolMail mail);

  std::size_t limit_;
  const PoolOrder order_;
  std::size_t bytes_ = 0;
  std::uint64_t arrivals_ = 0;
  std::map<Place, PoolMail> mail_;    // the next to serve first
  std::map<Place, Waiter*> waiting_;  // the next to admit first
};

}  // namespace forebay
