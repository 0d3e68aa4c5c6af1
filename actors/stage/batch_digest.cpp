#include "actors/stage/batch_digest.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

namespace forebay {
namespace {

using AddPart = std::function<void(const Digest::Part&)>;

/// Adds the ids of all rows of a feature whose different lists are at `ids`, some rows at a time,
/// so that they stay in the first cache. Returns where the feature's ids end.
const std::int64_t* add_rows(const Batch& batch, std::size_t feature, const BatchRepeats& repeats,
                             const std::int64_t* ids, const AddPart& add) {
  constexpr std::size_t kAtOnce = 2048;
  const std::int32_t* const lengths = batch.lengths + feature * batch.rows;
  std::vector<const std::int64_t*> lists{ids};
  for (std::size_t i = 0; i < repeats.unique; ++i) {
    lists.push_back(lists.back() + lengths[repeats.first_rows[i]]);
  }
  std::vector<std::int64_t> some;
  const auto add_some = [&] {
    add({some.data(), some.size() * sizeof(std::int64_t)});
    some.clear();
  };
  for (std::size_t row = 0; row < batch.rows; ++row) {
    const std::uint32_t number = repeats.numbers[row];
    some.insert(some.end(), lists[number], lists[number + 1]);
    if (some.size() >= kAtOnce) add_some();
  }
  add_some();
  return lists.back();
}

void add_ids(const Batch& batch, const AddPart& add) {
  if (!batch.lists_once) return add({batch.ids, batch.num_ids * sizeof(std::int64_t)});
  std::vector<const BatchRepeats*> repeats(batch.sparse_features);
  for (const BatchRepeats& group : batch.repeats) {
    for (const std::size_t feature : group.features.sparse) repeats[feature] = &group;
  }
  const std::int64_t* ids = batch.ids;
  for (std::size_t feature = 0; feature < batch.sparse_features; ++feature) {
    if (repeats[feature] != nullptr) {
      ids = add_rows(batch, feature, *repeats[feature], ids, add);
      continue;
    }
    const std::int32_t* const lengths = batch.lengths + feature * batch.rows;
    const auto count = std::accumulate(lengths, lengths + batch.rows, std::size_t{0});
    add({ids, count * sizeof(std::int64_t)});
    ids += count;
  }
}

}  // namespace

Digest digest_of(const Batch& batch) {
  return Digest::of_written([&batch](const AddPart& add) {
    add({batch.labels, batch.rows * sizeof(float)});
    add({batch.dense, batch.rows * batch.dense_features * sizeof(float)});
    add({batch.lengths, batch.rows * batch.sparse_features * sizeof(std::int32_t)});
    add_ids(batch, add);
    add({batch.weights, batch.weights == nullptr ? 0 : batch.rows * sizeof(float)});
    add({batch.extras, batch.rows * batch.extra_columns * sizeof(std::int64_t)});
  });
}

}  // namespace forebay
