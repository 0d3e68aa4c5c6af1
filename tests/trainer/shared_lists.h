#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/data/batch.h"

namespace forebay::test {

/// A batch in which rows share the lists of features 0 and 2, and others those of feature 3, in
/// three forms.
class SharedLists {
 public:
  /// Rows of `drawn` take the lists of at most `unique` of them.
  SharedLists(std::shared_ptr<const Batch> drawn, std::size_t unique, std::uint64_t seed)
      : base_(std::move(drawn)) {
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      draw_numbers(groups_[group], unique, mix64(seed, group));
    }
    for (std::size_t feature = 0; feature < base_->sparse_features; ++feature) append(feature);
    for (Batch* view : {&plain, &once, &stored}) point(*view);
    for (Batch* view : {&once, &stored}) share(*view);
    stored.lists_once = true;
    stored.ids = stored_ids_.data();
    stored.num_ids = stored_ids_.size();
  }
  SharedLists(const SharedLists&) = delete;
  SharedLists& operator=(const SharedLists&) = delete;

  Batch plain;   ///< No row knows of others that have the same lists.
  Batch once;    ///< With the repeats, and the ids of all rows.
  Batch stored;  ///< With the repeats, and Batch::lists_once.

 private:
  struct Group {
    std::vector<std::size_t> features;
    std::vector<std::uint32_t> numbers = {};
    std::vector<std::uint32_t> first_rows = {};

    bool has(std::size_t feature) const { return std::ranges::count(features, feature) > 0; }
  };

  void draw_numbers(Group& group, std::size_t unique, std::uint64_t seed) const {
    Random random(seed);
    std::vector<std::uint32_t> number_of(unique, ~0U);
    for (std::size_t row = 0; row < base_->rows; ++row) {
      std::uint32_t& number = number_of[random.below(static_cast<std::uint32_t>(unique))];
      if (number == ~0U) {
        number = static_cast<std::uint32_t>(group.first_rows.size());
        group.first_rows.push_back(static_cast<std::uint32_t>(row));
      }
      group.numbers.push_back(number);
    }
  }

  void append(std::size_t feature) {
    const auto group =
        std::ranges::find_if(groups_, [&](const Group& g) { return g.has(feature); });
    for (std::size_t row = 0; row < base_->rows; ++row) {
      const bool shares = group != groups_.end();
      const std::size_t from = shares ? group->first_rows[group->numbers[row]] : row;
      append_list(feature, from);
      if (from != row) continue;
      stored_ids_.insert(stored_ids_.end(), ids_.end() - lengths_.back(), ids_.end());
    }
  }

  void append_list(std::size_t feature, std::size_t row) {
    const std::int32_t* all = base_->lengths + feature * base_->rows;
    const std::int64_t* from = base_->ids;
    for (const std::int32_t* at = base_->lengths; at != all + row; ++at) from += *at;
    lengths_.push_back(all[row]);
    ids_.insert(ids_.end(), from, from + all[row]);
  }

  void point(Batch& view) {
    view.number = base_->number;
    view.rows = view.whole_rows = base_->rows;
    view.dense_features = base_->dense_features;
    view.sparse_features = base_->sparse_features;
    view.labels = base_->labels;
    view.dense = base_->dense;
    view.weights = base_->weights;
    view.lengths = lengths_.data();
    view.ids = ids_.data();
    view.num_ids = ids_.size();
  }

  void share(Batch& view) {
    for (const Group& group : groups_) {
      BatchRepeats repeats{.features = {},
                           .unique = group.first_rows.size(),
                           .numbers = group.numbers.data(),
                           .first_rows = group.first_rows.data()};
      std::ranges::copy_if(group.features, std::back_inserter(repeats.features.sparse),
                           [&](std::size_t feature) { return feature < view.sparse_features; });
      view.repeats.push_back(std::move(repeats));
    }
  }

  const std::shared_ptr<const Batch> base_;
  std::array<Group, 2> groups_{Group{{0, 2}}, Group{{3}}};
  std::vector<std::int32_t> lengths_;
  std::vector<std::int64_t> ids_;
  std::vector<std::int64_t> stored_ids_;
};

}  // namespace forebay::test
