#include "trainer/ranks/batch_divider.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace forebay {

BatchDivider::BatchDivider(std::vector<std::int64_t> table_rows, TablePlacement placement,
                           int ranks)
    : table_rows_(std::move(table_rows)), placement_(std::move(placement)), ranks_(ranks) {
  const bool cuts = std::ranges::any_of(placement_.shards, [&](const TableShard& shard) {
    return shard.rows != table_rows_[shard.feature];
  });
  all_whole_ = ranks_ == 1 && !cuts && placement_.shards.size() == table_rows_.size();
}

void BatchDivider::Division::clear() {
  lengths.clear();
  ids.clear();
  features = 0;
  groups.clear();
}

void BatchDivider::Division::begin_feature(const BatchLists& lists, std::size_t feature) {
  const std::size_t number = features++;
  if (lists.repeats(feature) == nullptr) return;
  const std::size_t group = lists.group(feature);
  if (groups.size() <= group) groups.resize(group + 1);
  groups[group].sparse.push_back(number);
}

void BatchDivider::Division::point(const Batch& mine, std::span<const OwnedRepeats> cuts) {
  batch.number = mine.number;
  batch.rows = mine.rows;
  batch.sparse_features = features;
  batch.num_ids = ids.size();
  batch.lengths = lengths.data();
  batch.ids = ids.data();
  batch.repeats.clear();
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (groups[group].sparse.empty()) continue;
    batch.repeats.push_back(cuts[group].of(groups[group]));
  }
  batch.lists_once = !batch.repeats.empty();
}

Status BatchDivider::measure(const Batch& mine) {
  const auto refuse = [&](const char* what) {
    return fail(Code::kInvalid, "batch " + std::to_string(mine.number) + " has " + what);
  };
  if (mine.sparse_features != table_rows_.size()) return refuse("other sparse features");
  const std::span all(mine.lengths, mine.sparse_features * mine.rows);
  if (std::ranges::any_of(all, [](std::int32_t length) { return length < 0; })) {
    return refuse("a list of negative length");
  }
  lists_ = BatchLists(mine);
  const bool adds_up = lists_.first_id(lists_.features()) == mine.num_ids;
  return adds_up ? Status() : refuse("other ids than its lists are long");
}

void BatchDivider::cut_repeats(const Batch& mine) {
  cuts_.resize(mine.lists_once ? mine.repeats.size() : 0);
  for (std::size_t group = 0; group < cuts_.size(); ++group) {
    cuts_[group].clear();
    for (int rank = 0; rank < ranks_; ++rank) {
      const auto [first, end] = rows_of_rank(mine.rows, rank, ranks_);
      cuts_[group].append(mine.repeats[group], first, end);
    }
  }
}

Status BatchDivider::divide(const Batch& mine, What what) {
  if (auto measured = measure(mine); !measured) return measured;
  sharded_ = all_whole_ ? &mine : &shards_.batch;
  if (!all_whole_) take(mine, what);
  lists_ = BatchLists();  // They refer to `mine`.
  return {};
}

void BatchDivider::take(const Batch& mine, What what) {
  cut_repeats(mine);
  shards_.clear();
  replicas_.clear();
  for (const TableShard& shard : placement_.shards) {
    if (what == What::kReplicas) break;
    if (shard.rows == table_rows_[shard.feature]) {
      take_whole(mine, shard.feature, shards_);
    } else {
      take_shard(shard);
    }
  }
  for (const std::size_t feature : placement_.replicated) take_whole(mine, feature, replicas_);
  shards_.point(mine, cuts_);
  replicas_.point(mine, cuts_);
}

template <class Use>
void BatchDivider::for_lists(std::size_t feature, const Use& use) const {
  const auto ids = lists_.ids(feature);
  if (lists_.repeats(feature) == nullptr) {
    std::ranges::for_each(ids, use);
    return;
  }
  for (const std::uint32_t row : cut_of(feature).first_rows()) {
    use(ids[lists_.number(feature, row)]);
  }
}

void BatchDivider::take_whole(const Batch& mine, std::size_t feature, Division& to) const {
  const std::int32_t* lengths = mine.lengths + feature * mine.rows;
  to.begin_feature(lists_, feature);
  to.lengths.insert(to.lengths.end(), lengths, lengths + mine.rows);
  if (lists_.repeats(feature) == nullptr) {
    const auto ids = lists_.all_ids(feature);
    to.ids.insert(to.ids.end(), ids.begin(), ids.end());
    return;
  }
  for_lists(feature, [&](std::span<const std::int64_t> list) {
    to.ids.insert(to.ids.end(), list.begin(), list.end());
  });
}

void BatchDivider::take_shard(const TableShard& shard) {
  const std::int64_t rows = table_rows_[shard.feature];
  shards_.begin_feature(lists_, shard.feature);
  kept_.clear();
  for_lists(shard.feature, [&](std::span<const std::int64_t> list) {
    const std::size_t before = shards_.ids.size();
    for (const std::int64_t id : list) {
      const std::int64_t key = fold(id, rows) - shard.first;
      if (key >= 0 && key < shard.rows) shards_.ids.push_back(key);
    }
    kept_.push_back(static_cast<std::int32_t>(shards_.ids.size() - before));
  });
  if (lists_.repeats(shard.feature) == nullptr) {
    shards_.lengths.insert(shards_.lengths.end(), kept_.begin(), kept_.end());
    return;
  }
  const std::span<const std::uint32_t> numbers = cut_of(shard.feature).numbers();
  std::ranges::transform(numbers, std::back_inserter(shards_.lengths),
                         [&](std::uint32_t number) { return kept_[number]; });
}

}  // namespace forebay
