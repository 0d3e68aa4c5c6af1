#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "actors/transform/order/step_facts.h"
#include "core/data/schema.h"

namespace forebay {

/// A column of a group of repeated columns that has to have a value for each row.
struct PlainColumn {
  ColumnRef column;
  std::size_t group = 0;
};

/// Follows the columns of Schema::repeated through the steps of a plan: which columns are stored
/// once for several rows, and which steps may therefore run once for them.
///
/// A step runs over the stored rows of a group if all of its columns are in that group, or are new
/// and so join it. All such steps run before every other step. Another step gets plain columns; a
/// column is plain from then on, also for steps that could run over the group: the steps that have
/// run over the group are then exactly those that come before the column became plain.
class SlotGroups {
 public:
  /// The decoded columns have the first slots of so many.
  SlotGroups(const std::vector<FeatureGroup>& repeated, std::size_t decoded_dense,
             std::size_t decoded_sparse);

  /// Where the next step runs, in the order in which steps run.
  struct Place {
    std::optional<std::size_t> group;  ///< Over the stored rows of this group.
    std::vector<PlainColumn> plain;    ///< Else the columns that become plain before it.
  };
  /// `may_be_stored`: whether nothing but the step's columns is against it.
  Place next(const StepFacts& facts, bool may_be_stored);

  /// The group of a column, after the last step; nullopt: plain, or not there.
  std::optional<std::size_t> group_of(ColumnRef column) const;

 private:
  struct Slot {
    bool exists = false;
    std::optional<std::size_t> group;
  };

  std::optional<std::size_t> common_group(const StepFacts& facts) const;
  std::vector<Slot>& slots(ColumnKind kind) {
    return kind == ColumnKind::kDense ? dense_ : sparse_;
  }
  const std::vector<Slot>& slots(ColumnKind kind) const {
    return kind == ColumnKind::kDense ? dense_ : sparse_;
  }
  Slot& at(ColumnRef column);

  std::vector<Slot> dense_;
  std::vector<Slot> sparse_;
};

}  // namespace forebay
