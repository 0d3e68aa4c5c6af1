#include "actors/transform/order/operator_order.h"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <set>

namespace forebay {
namespace {

using Lists = StepFacts::Lists;

bool share(const std::vector<ColumnRef>& a, const std::vector<ColumnRef>& b) {
  return std::ranges::any_of(
      a, [&](ColumnRef column) { return std::ranges::find(b, column) != b.end(); });
}

/// The column that a step changes in place, if it uses no other.
std::optional<ColumnRef> only_column(const StepFacts& step) {
  if (step.writes.size() != 1 || step.reads != step.writes) return std::nullopt;
  return step.writes.front();
}

bool cuts_what_the_other_changes(const StepFacts& a, const StepFacts& b) {
  const auto column = only_column(a);
  if (!column || column->kind != ColumnKind::kSparse || column != only_column(b)) return false;
  return (a.lists == Lists::kCut && b.lists != Lists::kOther) ||
         (b.lists == Lists::kCut && a.lists != Lists::kOther);
}

bool columns_allow(const StepFacts& a, const StepFacts& b) {
  if (!share(a.writes, b.writes) && !share(a.writes, b.reads) && !share(a.reads, b.writes)) {
    return true;
  }
  return cuts_what_the_other_changes(a, b);
}

/// The steps as a graph: which must run before which.
class Graph {
 public:
  explicit Graph(const std::vector<StepFacts>& steps)
      : steps_(steps),
        before_(steps.size()),
        after_(steps.size()),
        waits_for_(steps.size(), 0),
        urgent_(steps.size(), false) {
    for (std::size_t i = 0; i < steps.size(); ++i) add(i);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].leaves_out_rows) make_urgent(i);
    }
  }

  std::vector<std::size_t> order() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (waits_for_[i] == 0) ready_.insert(rank(i));
    }
    std::vector<std::size_t> order;
    while (!ready_.empty()) {
      const Rank next = best(order);
      ready_.erase(next);
      order.push_back(next.step);
      for (const std::size_t later : after_[next.step]) {
        if (--waits_for_[later] == 0) ready_.insert(rank(later));
      }
    }
    return order;
  }

 private:
  /// Lower is sooner.
  struct Rank {
    int group = 0;
    int list = 0;
    std::size_t step = 0;
    auto operator<=>(const Rank&) const = default;
  };

  /// Adds the edges to `step` from the steps before it, of which only those that use one of its
  /// columns, fail or leave out rows can have one.
  void add(std::size_t step) {
    const StepFacts& facts = steps_[step];
    std::set<std::size_t> earlier;
    std::vector<ColumnRef> columns = facts.reads;
    columns.insert(columns.end(), facts.writes.begin(), facts.writes.end());
    for (const ColumnRef column : columns) {
      earlier.insert(users_[column].begin(), users_[column].end());
      users_[column].insert(step);
    }
    if (facts.may_fail || facts.leaves_out_rows) {
      earlier.insert(by_row_.begin(), by_row_.end());
      by_row_.push_back(step);
    }
    earlier.erase(step);
    for (const std::size_t other : earlier) {
      if (may_swap(steps_[other], facts)) continue;
      before_[step].push_back(other);
      after_[other].push_back(step);
      ++waits_for_[step];
    }
  }

  void make_urgent(std::size_t last) {
    std::vector<std::size_t> open{last};
    while (!open.empty()) {
      const std::size_t step = open.back();
      open.pop_back();
      if (urgent_[step]) continue;
      urgent_[step] = true;
      open.insert(open.end(), before_[step].begin(), before_[step].end());
    }
  }

  Rank rank(std::size_t step) const {
    const StepFacts& facts = steps_[step];
    const int group = facts.inflates ? 2 : 1;
    return {urgent_[step] ? 0 : group, facts.lists == Lists::kCut ? 0 : 1, step};
  }

  Rank best(const std::vector<std::size_t>& order) const {
    const Rank first = *ready_.begin();
    if (first.group == 0 || order.empty() || steps_[order.back()].writes.empty()) return first;
    const ColumnRef column = steps_[order.back()].writes.front();
    std::optional<Rank> same;
    for (const std::size_t user : users_.at(column)) {
      const Rank next = rank(user);
      const bool goes_on = only_column(steps_[user]) == column || steps_[user].inflates;
      if (!goes_on || !ready_.contains(next)) continue;
      if (!same || next < *same) same = next;
    }
    return same.value_or(first);
  }

  const std::vector<StepFacts>& steps_;
  std::vector<std::vector<std::size_t>> before_;  // of each step, those that must run before it
  std::vector<std::vector<std::size_t>> after_;   // the other way round
  std::vector<std::size_t> waits_for_;            // how many before it have not had their turn
  std::vector<bool> urgent_;                      // leaves out rows, or is needed for it
  std::map<ColumnRef, std::set<std::size_t>> users_;
  std::vector<std::size_t> by_row_;  // steps that may fail or leave out rows
  std::set<Rank> ready_;
};

}  // namespace

bool may_swap(const StepFacts& first, const StepFacts& second) {
  if (first.may_fail && second.may_fail) return false;
  if (first.may_fail && second.leaves_out_rows) return false;
  if (first.leaves_out_rows && second.may_fail) return false;
  return columns_allow(first, second);
}

std::vector<std::size_t> order_of(const std::vector<StepFacts>& steps) {
  return Graph(steps).order();
}

}  // namespace forebay
