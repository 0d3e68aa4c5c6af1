#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

namespace forebay::scheduler {

/// Who makes which split: each that was issued and has not arrived waits for a worker, or is
/// leased to one, or to two when the first is late.
///
/// A holder is an incarnation, so a worker that comes back is another one. Everything goes lowest
/// number first and by the times it is given: the same calls give the same leases. Each call costs
/// O(log n) a split. A value; belongs to one actor.
class LeaseTable {
 public:
  using Time = std::chrono::nanoseconds;
  using Holder = std::uint64_t;

  explicit LeaseTable(Time lease) : lease_(lease) {}

  /// `split` is to be made. False: it is known already.
  bool issue(std::uint64_t split);

  /// Gives `holder` the lowest that wait, `count` at most.
  std::vector<std::uint64_t> lease(Holder holder, std::size_t count, Time now);

  /// `holder` says that it has `split` in hand. False: nobody wants it any more.
  bool adopt(Holder holder, std::uint64_t split, Time now);

  /// Gives `holder` a second lease on a split that another one has had for too long. False: it
  /// waits, has two already, or this one has it.
  bool lease_again(Holder holder, std::uint64_t split, Time now);

  /// The leases of `holder` on these begin anew.
  void prolong(Holder holder, std::span<const std::uint64_t> splits, Time now);

  struct Ended {
    std::vector<Holder> holders;  ///< Who had it; the first one first.
    std::optional<Time> took;     ///< Since its first lease, if it had one.
  };
  /// `split` is here: all its leases end. Nothing when it is not known.
  std::optional<Ended> arrived(std::uint64_t split, Time now);

  /// `holder` does not make `split`; it waits again unless another one has it. False: not leased
  /// to that holder.
  bool give_back(Holder holder, std::uint64_t split);

  /// `holder` is gone: what it had waits again. Returns what it had.
  std::vector<std::uint64_t> lose(Holder holder);

  struct Expired {
    Holder holder = 0;
    std::uint64_t split = 0;
    bool operator==(const Expired&) const = default;
  };
  /// Ends the leases whose time is over; their splits wait again.
  std::vector<Expired> expire(Time now);

  /// The lowest split that has not arrived and its first lease: what the trainer waits for.
  struct Lowest {
    std::uint64_t split = 0;
    std::vector<Holder> holders;
    Time since = {};  ///< Of the first lease.
  };
  std::optional<Lowest> lowest() const;

  std::size_t num_waiting() const { return waiting_.size(); }
  /// Issued and not arrived.
  std::size_t num_missing() const { return splits_.size(); }
  std::size_t num_leases(Holder holder) const;
  std::size_t num_leases() const { return deadlines_.size(); }
  std::vector<std::uint64_t> leases_of(Holder holder) const;
  /// All numbers that are known, in order.
  std::vector<std::uint64_t> missing() const;

 private:
  struct Lease {
    Holder holder = 0;
    Time since = {};
    Time deadline = {};
  };
  using Leases = std::vector<Lease>;  // Two at most.
  using Splits = std::map<std::uint64_t, Leases>;

  static constexpr std::size_t kMostHolders = 2;

  void add(Splits::iterator split, Holder holder, Time now);
  void end(Splits::iterator split, std::size_t index);

  Time lease_;
  Splits splits_;
  std::set<std::uint64_t> waiting_;
  std::map<Holder, std::set<std::uint64_t>> held_;
  std::set<std::tuple<Time, std::uint64_t, Holder>> deadlines_;
};

}  // namespace forebay::scheduler
