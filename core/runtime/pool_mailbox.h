#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/runtime/parker.h"

namespace forebay {

/// A message on its way through a pool, its type hidden from the machinery.
class Parcel {
 public:
  virtual ~Parcel() = default;
};

/// A parcel with what the mailbox must know of it.
struct PoolMail {
  std::unique_ptr<Parcel> parcel;
  std::size_t bytes = 0;
  std::uint64_t key = 0;
  std::uint64_t arrival = 0;  ///< Set by the mailbox.
};

/// Who is served first.
enum class PoolOrder : std::uint8_t {
  kArrival,    ///< First in, first out.
  kLowestKey,  ///< The smallest key, first come first served among equals.
};

/// Holds mail up to a bound in bytes, and those who wait with more at the door.
///
/// Owns the mail; whoever waits stays on its own thread's stack. An empty
/// mailbox takes one mail of any size. Mail that waits enters in the same order
/// as it would leave, and nothing of a later turn gets past it. Not
/// thread-safe: it belongs to its pool's mutex.
class PoolMailbox {
 public:
  /// One offer that waits for room. Lives until its parker is unparked.
  struct Waiter {
    PoolMail mail;           ///< Taken away when admitted, left when refused.
    bool admitted = false;   ///< Set before the unpark.
    Waiter* next = nullptr;  ///< In a chain of those to unpark.
    Parker parker;
  };

  PoolMailbox(std::size_t limit, PoolOrder order) : limit_(limit), order_(order) {}

  /// Takes `mail` when it has room and the turn; else leaves it untouched.
  [[nodiscard]] bool push(PoolMail& mail);

  /// Puts an offer that found no room into the row of those who wait.
  void wait(Waiter& waiter);

  /// The next to serve; nothing when empty.
  std::optional<PoolMail> pop();

  /// Admits those who fit now, as far as it is their turn: a chain for
  /// unpark_all.
  [[nodiscard]] Waiter* admit_all();

  /// Empties the row without admitting anyone: a chain for unpark_all.
  [[nodiscard]] Waiter* refuse_all();

  /// Wakes a chain of waiters, which may be gone at once. Without the pool's
  /// mutex.
  static void unpark_all(Waiter* chain);

  /// Takes out everything that is queued.
  std::vector<PoolMail> clear();

  bool empty() const { return mail_.empty(); }
  std::size_t size() const { return mail_.size(); }
  std::size_t bytes() const { return bytes_; }
  std::size_t limit() const { return limit_; }
  /// Mail that is in already stays; whoever fits now is for `admit_all`.
  void set_limit(std::size_t limit) { limit_ = limit; }
  std::size_t num_waiting() const { return waiting_.size(); }

 private:
  bool fits(const PoolMail& mail) const { return mail_.empty() || bytes_ + mail.bytes <= limit_; }
  bool before(const PoolMail& left, const PoolMail& right) const;
  void insert(PoolMail mail);
  Waiter* pop_waiter();

  std::size_t limit_;
  const PoolOrder order_;
  std::size_t bytes_ = 0;
  std::uint64_t arrivals_ = 0;
  std::vector<PoolMail> mail_;    // a heap, the next to serve on top
  std::vector<Waiter*> waiting_;  // a heap, the next to admit on top
};

}  // namespace forebay
