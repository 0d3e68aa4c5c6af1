#include "core/data/batch_lists.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace forebay {
namespace {

bool is_sound(const BatchRepeats& group, std::size_t rows) {
  std::uint32_t seen = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    if (group.numbers[row] < seen) continue;
    if (group.numbers[row] != seen || seen == group.unique) return false;
    if (group.first_rows[seen++] != row) return false;
  }
  return seen == group.unique;
}

}  // namespace

BatchLists::BatchLists(const Batch& batch)
    : groups_(batch.repeats.data()), repeats_(batch.sparse_features, nullptr), ids_(batch.ids) {
  if (batch.lists_once) {
    for (const BatchRepeats& group : batch.repeats) {
      for (const std::size_t feature : group.features.sparse) repeats_[feature] = &group;
    }
  }
  lengths_.reserve(repeats_.size());
  gathered_.reserve(repeats_.size());
  for (std::size_t feature = 0; feature < repeats_.size(); ++feature) {
    const std::span lengths(batch.lengths + feature * batch.rows, batch.rows);
    const BatchRepeats* repeats = repeats_[feature];
    if (repeats == nullptr) {
      lengths_.push_back(lengths);
      continue;
    }
    std::vector<std::int32_t> gathered(repeats->unique);
    std::ranges::transform(std::span(repeats->first_rows, repeats->unique), gathered.begin(),
                           [&](std::uint32_t row) { return lengths[row]; });
    lengths_.emplace_back(gathered);
    gathered_.push_back(std::move(gathered));
  }
  first_id_.assign(1, 0);
  for (const std::span<const std::int32_t> lengths : lengths_) {
    const auto ids = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
    first_id_.push_back(first_id_.back() + static_cast<std::size_t>(ids));
  }
}

std::vector<std::span<const std::int64_t>> BatchLists::ids(std::size_t feature) const {
  std::vector<std::span<const std::int64_t>> lists;
  lists.reserve(count(feature));
  const std::int64_t* next = ids_ + first_id(feature);
  for (const std::int32_t length : lengths(feature)) {
    lists.emplace_back(next, static_cast<std::size_t>(length));
    next += length;
  }
  return lists;
}

bool are_sound(std::span<const BatchRepeats> groups, std::size_t rows) {
  return std::ranges::all_of(groups,
                             [rows](const BatchRepeats& group) { return is_sound(group, rows); });
}

void OwnedRepeats::append(const BatchRepeats& from, std::size_t first, std::size_t end) {
  constexpr auto kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> renumbered(from.unique, kNone);
  for (const std::uint32_t number : std::span(from.numbers + first, end - first)) {
    std::uint32_t& known = renumbered[number];
    if (known == kNone) {
      known = static_cast<std::uint32_t>(first_rows_.size());
      first_rows_.push_back(static_cast<std::uint32_t>(numbers_.size()));
    }
    numbers_.push_back(known);
  }
}

bool OwnedRepeats::append(std::span<const std::uint32_t> numbers, std::size_t unique) {
  const std::size_t before = first_rows_.size();
  for (const std::uint32_t number : numbers) {
    const std::size_t seen = first_rows_.size() - before;
    if (number > seen) return false;
    if (number == seen) first_rows_.push_back(static_cast<std::uint32_t>(numbers_.size()));
    numbers_.push_back(static_cast<std::uint32_t>(before + number));
  }
  return first_rows_.size() - before == unique;
}

void OwnedRepeats::append_different(std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) {
    const auto number = static_cast<std::uint32_t>(first_rows_.size());
    first_rows_.push_back(static_cast<std::uint32_t>(numbers_.size()));
    numbers_.push_back(number);
  }
}

void OwnedRepeats::clear() {
  numbers_.clear();
  first_rows_.clear();
}

}  // namespace forebay
