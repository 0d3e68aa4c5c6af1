#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "core/base/result.h"
#include "scheduler/protocol.h"
#include "scheduler/range_set.h"

namespace forebay::scheduler {

/// Assigns splits to workers: each split that was issued and has not arrived waits for a worker, or
/// is leased to one, or to two if the first is late.
///
/// A holder is an incarnation, so a worker that reconnects is a new holder. Lower splits go first,
/// and all times are passed in: the same calls give the same leases. Each call costs O(log n) per
/// split. A value; belongs to one actor.
class LeaseTable {
 public:
  using Time = std::chrono::nanoseconds;
  using Holder = std::uint64_t;
  static constexpr std::uint64_t kMostIssued = 1 << 20;  ///< At once; a window has thousands.

  explicit LeaseTable(Time lease) : lease_(lease) {}

  /// Adds a split to be made. Returns false if it is known already.
  bool issue(std::uint64_t split);

  /// Makes `wanted` without `finished` the splits to be made; their leases go on.
  void reopen(const std::set<std::uint64_t>& wanted, const RangeSet& finished, Time now);

  /// Whether another worker may hold `split`, or have sent it.
  bool is_again(std::uint64_t split) const { return again_.contains(split); }

  /// Leases the lowest waiting splits to `holder`, at most `count`.
  std::vector<std::uint64_t> lease(Holder holder, std::size_t count, Time now);

  /// Leases `split` to `holder`, which reports that it holds the split. Returns false if the split
  /// is not wanted any more.
  bool adopt(Holder holder, std::uint64_t split, Time now);

  /// Gives `holder` a second lease on a split that another holder has had for too long. Returns
  /// false if the split waits, has two leases already, or is leased to `holder`.
  bool lease_again(Holder holder, std::uint64_t split, Time now);

  /// Restarts the leases of `holder` on these splits.
  void prolong(Holder holder, std::span<const std::uint64_t> splits, Time now);

  struct Ended {
    std::vector<Holder> holders;  ///< The holders, in the order of their leases.
    std::optional<Time> took;     ///< Time since the first lease, if there was one.
  };
  /// Ends all leases of `split`, which has arrived. Returns nothing if the split is not known.
  std::optional<Ended> arrived(std::uint64_t split, Time now);

  /// Ends the lease of `holder`, which does not make `split`; the split waits again unless another
  /// holder has it. Returns false if it is not leased to `holder`.
  bool give_back(Holder holder, std::uint64_t split);

  /// Ends all leases of a lost holder; their splits wait again. Returns these splits.
  std::vector<std::uint64_t> lose(Holder holder);

  struct Expired {
    Holder holder = 0;
    std::uint64_t split = 0;
    bool operator==(const Expired&) const = default;
  };
  /// Ends the leases that have expired; their splits wait again.
  std::vector<Expired> expire(Time now);

  /// The lowest split that has not arrived, which the trainer waits for, with its holders.
  struct Lowest {
    std::uint64_t split = 0;
    std::vector<Holder> holders;
    Time since = {};  ///< Start of the first lease.
  };
  std::optional<Lowest> lowest() const;

  std::size_t num_waiting() const { return waiting_.size(); }
  /// Splits issued and not arrived.
  std::size_t num_missing() const { return splits_.size(); }
  std::size_t num_leases(Holder holder) const;
  std::size_t num_leases() const { return deadlines_.size(); }
  std::vector<std::uint64_t> leases_of(Holder holder) const;
  /// All splits issued and not arrived, in order.
  std::vector<std::uint64_t> missing() const;

 private:
  struct Lease {
    Holder holder = 0;
    Time since = {};
    Time deadline = {};
  };
  using Leases = std::vector<Lease>;  // At most two.
  using Splits = std::map<std::uint64_t, Leases>;

  static constexpr std::size_t kMostHolders = 2;

  void add(Splits::iterator split, Holder holder, Time now);
  void end(Splits::iterator split, Leases::iterator lease);
  static Leases::iterator lease_of(Leases& leases, Holder holder) {
    return std::ranges::find(leases, holder, &Lease::holder);
  }

  Time lease_;
  Splits splits_;
  std::set<std::uint64_t> waiting_;
  std::set<std::uint64_t> again_;  // leased before, perhaps by an earlier head
  std::map<Holder, std::set<std::uint64_t>> held_;
  std::set<std::tuple<Time, std::uint64_t, Holder>> deadlines_;
};

/// Returns the splits that a split client reports as issued and not arrived; kInvalid: too many, or
/// more than the job has.
Result<std::set<std::uint64_t>> wanted_of(const OpenJob& open);

}  // namespace forebay::scheduler
