#include "trainer/ranks/id_exchange.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "core/base/check.h"

namespace forebay {
namespace {

/// Numbers are padded so that the ids behind them are aligned.
std::size_t number_bytes(std::size_t count) { return (count * sizeof(std::int32_t) + 7) & ~7ull; }

template <class T>
std::byte* put(std::byte* to, const T* from, std::size_t count) {
  if (count > 0) std::memcpy(to, from, count * sizeof(T));
  return to + count * sizeof(T);
}

template <class T>
void take(T* to, std::size_t count, const std::byte*& from) {
  if (count > 0) std::memcpy(to, from, count * sizeof(T));
  from += count * sizeof(T);
}

}  // namespace

IdExchange::IdExchange(Collective& ranks, FeatureOwners owners)
    : ranks_(ranks), owners_(std::move(owners)), rank_(static_cast<std::size_t>(ranks.rank())) {
  const std::size_t size = owners_.features_of.size();
  first_row_.resize(size + 1);
  sizes_in_.resize(size * owned());
  bytes_out_.resize(size);
  bytes_in_.resize(size);
  shared_.resize(owned());
}

Result<const Batch*> IdExchange::exchange(const Batch& mine) {
  FOREBAY_CHECK(mine.sparse_features == owners_.owner.size());
  const BatchLists lists(mine);
  FOREBAY_CHECK(lists.first_id(lists.features()) == mine.num_ids);
  measure(lists);
  if (auto announced = exchange_sizes(mine.rows); !announced) return pass(announced);
  pack(mine, lists);
  in_.resize(std::accumulate(bytes_in_.begin(), bytes_in_.end(), std::size_t{0}));
  auto sent = ranks_.start_all_to_all({out_, bytes_out_, in_, bytes_in_})->wait();
  if (!sent) return pass(sent);
  if (auto whole = unpack(); !whole) return pass(whole);
  batch_.number = mine.number;
  return &batch_;
}

bool IdExchange::is_shared(std::size_t feature) const {
  for (std::size_t rank = 0; rank < bytes_in_.size(); ++rank) {
    if (size_in(feature, rank).is_shared()) return true;
  }
  return false;
}

void IdExchange::measure(const BatchLists& lists) {
  sizes_out_.clear();
  for (std::size_t feature = 0; feature < lists.features(); ++feature) {
    const bool shared = lists.repeats(feature) != nullptr;
    sizes_out_.push_back({shared ? lists.count(feature) : FeatureSize::kOfRows,
                          lists.first_id(feature + 1) - lists.first_id(feature)});
  }
}

Status IdExchange::exchange_sizes(std::size_t rows) {
  std::vector<std::uint64_t> out;
  std::vector<std::size_t> out_bytes;
  out_bytes.reserve(bytes_out_.size());
  for (std::size_t rank = 0; rank < bytes_out_.size(); ++rank) {
    const std::size_t before = out.size();
    std::size_t numbers = 0;
    std::size_t ids = 0;
    out.push_back(rows);
    for (const std::size_t feature : owners_.features_of[rank]) {
      const FeatureSize& size = sizes_out_[feature];
      out.insert(out.end(), {size.lists, size.ids});
      numbers += size.numbers(rows);
      ids += size.ids;
    }
    out_bytes.push_back((out.size() - before) * sizeof(std::uint64_t));
    bytes_out_[rank] = number_bytes(numbers) + ids * sizeof(std::int64_t);
  }
  const std::size_t each = 1 + 2 * owned();
  std::vector<std::uint64_t> in(each * bytes_in_.size());
  const std::vector<std::size_t> in_bytes(bytes_in_.size(), each * sizeof(std::uint64_t));
  auto done = ranks_
                  .start_all_to_all({std::as_bytes(std::span(out)), out_bytes,
                                     std::as_writable_bytes(std::span(in)), in_bytes})
                  ->wait();
  return done ? take_sizes(in.data()) : done;
}

Status IdExchange::take_sizes(const std::uint64_t* from) {
  // No batch is that large: the ranks are out of step.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  for (std::size_t rank = 0; rank < bytes_in_.size(); ++rank) {
    const std::uint64_t rows = *from++;
    bool sane = rows <= kMost;
    std::size_t numbers = 0;
    std::size_t ids = 0;
    for (std::size_t feature = 0; feature < owned(); ++feature, from += 2) {
      const FeatureSize size{from[0], from[1]};
      sane = sane && (!size.is_shared() || size.lists <= rows) && size.ids <= kMost;
      sizes_in_[rank * owned() + feature] = size;
      numbers += size.numbers(rows);
      ids += size.ids;
    }
    if (!sane) {
      return fail(Code::kCorrupt, "rank " + std::to_string(rank) + " is at another operation");
    }
    first_row_[rank + 1] = first_row_[rank] + rows;
    bytes_in_[rank] = number_bytes(numbers) + ids * sizeof(std::int64_t);
  }
  return {};
}

void IdExchange::pack(const Batch& mine, const BatchLists& lists) {
  out_.resize(std::accumulate(bytes_out_.begin(), bytes_out_.end(), std::size_t{0}));
  std::byte* block = out_.data();
  for (std::size_t rank = 0; rank < bytes_out_.size(); ++rank) {
    const std::vector<std::size_t>& features = owners_.features_of[rank];
    std::byte* at = block;
    std::size_t numbers = 0;
    for (const std::size_t feature : features) {
      at = put(at, lists.lengths(feature).data(), lists.count(feature));
      const BatchRepeats* repeats = lists.repeats(feature);
      if (repeats != nullptr) at = put(at, repeats->numbers, mine.rows);
      numbers += sizes_out_[feature].numbers(mine.rows);
    }
    at = block + number_bytes(numbers);
    for (const std::size_t feature : features) {
      at = put(at, mine.ids + lists.first_id(feature), sizes_out_[feature].ids);
    }
    block += bytes_out_[rank];
  }
}

Status IdExchange::unpack() {
  const std::size_t ranks = bytes_in_.size();
  std::vector<Cursor> cursors;
  cursors.reserve(ranks);
  std::size_t all_ids = 0;
  const std::byte* block = in_.data();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::size_t ids = 0;
    for (std::size_t feature = 0; feature < owned(); ++feature) ids += size_in(feature, rank).ids;
    const std::byte* end = block + bytes_in_[rank];
    cursors.push_back({block, end - ids * sizeof(std::int64_t)});
    all_ids += ids;
    block = end;
  }
  lengths_.resize(owned() * first_row_.back());
  ids_.resize(all_ids);
  std::int64_t* next = ids_.data();
  for (std::size_t feature = 0; feature < owned(); ++feature) {
    shared_[feature].clear();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (!unpack_lists(feature, rank, cursors[rank])) {
        return fail(Code::kCorrupt,
                    "rank " + std::to_string(rank) + " sent other lists than it announced");
      }
      const std::size_t ids = size_in(feature, rank).ids;
      take(next, ids, cursors[rank].ids);
      next += ids;
    }
  }
  point_batch();
  return {};
}

bool IdExchange::unpack_lists(std::size_t feature, std::size_t rank, Cursor& from) {
  const FeatureSize& size = size_in(feature, rank);
  const std::size_t rows = rows_of(rank);
  std::int32_t* to = lengths_.data() + feature * first_row_.back() + first_row_[rank];
  read_lengths_.resize(size.is_shared() ? size.lists : rows);
  take(read_lengths_.data(), read_lengths_.size(), from.numbers);
  const bool sane = std::ranges::all_of(read_lengths_, [](std::int32_t each) { return each >= 0; });
  const auto ids = std::accumulate(read_lengths_.begin(), read_lengths_.end(), std::int64_t{0});
  if (!sane || static_cast<std::uint64_t>(ids) != size.ids) return false;
  if (!size.is_shared()) {
    std::ranges::copy(read_lengths_, to);
    if (is_shared(feature)) shared_[feature].append_different(rows);
    return true;
  }
  read_numbers_.resize(rows);
  take(read_numbers_.data(), rows, from.numbers);
  if (!shared_[feature].append(read_numbers_, size.lists)) return false;
  std::ranges::transform(read_numbers_, to,
                         [this](std::uint32_t number) { return read_lengths_[number]; });
  return true;
}

void IdExchange::point_batch() {
  batch_.rows = first_row_.back();
  batch_.sparse_features = owned();
  batch_.num_ids = ids_.size();
  batch_.lengths = lengths_.data();
  batch_.ids = ids_.data();
  batch_.repeats.clear();
  for (std::size_t feature = 0; feature < owned(); ++feature) {
    if (is_shared(feature)) batch_.repeats.push_back(shared_[feature].of({.sparse = {feature}}));
  }
  batch_.lists_once = !batch_.repeats.empty();
}

}  // namespace forebay
