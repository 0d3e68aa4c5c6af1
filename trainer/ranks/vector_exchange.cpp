#include "trainer/ranks/vector_exchange.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "core/base/check.h"
#include "trainer/ranks/placement.h"

namespace forebay {
namespace {

/// Lengths are padded so that the ids behind them are aligned.
std::size_t length_bytes(std::size_t count) { return (count * sizeof(std::int32_t) + 7) & ~7ull; }

template <class T>
std::byte* put(std::byte* to, const T* from, std::size_t count) {
  if (count > 0) std::memcpy(to, from, count * sizeof(T));
  return to + count * sizeof(T);
}

std::size_t sum(const std::vector<std::size_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::size_t{0});
}

template <class T>
void grow(std::vector<T>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

}  // namespace

VectorExchange::VectorExchange(Collective& ranks, std::vector<int> owners, std::size_t dim)
    : ranks_(ranks),
      rank_(static_cast<std::size_t>(ranks.rank())),
      dim_(dim),
      features_of_(static_cast<std::size_t>(ranks.size())) {
  for (std::size_t feature = 0; feature < owners.size(); ++feature) {
    const auto owner = static_cast<std::size_t>(owners[feature]);
    FOREBAY_CHECK(owner < features_of_.size());
    owner_.push_back(owner);
    place_.push_back(features_of_[owner].size());
    features_of_[owner].push_back(feature);
  }
  const std::size_t size = features_of_.size();
  for (Sizes* sizes : {&rows_of_, &ids_of_, &bytes_out_, &bytes_in_, &to_owner_bytes_,
                       &to_user_bytes_, &to_owner_at_, &to_user_at_}) {
    sizes->resize(size);
  }
  headers_out_.resize(size);
  first_row_.resize(size + 1);
}

Result<const Batch*> VectorExchange::exchange_ids(const Batch& mine) {
  FOREBAY_CHECK(mine.sparse_features == owner_.size());
  if (auto announced = exchange_sizes(mine); !announced) return pass(announced);
  pack_ids(mine);
  auto sent = ranks_
                  .start_all_to_all({std::span(out_).first(sum(bytes_out_)), bytes_out_,
                                     std::span(in_).first(sum(bytes_in_)), bytes_in_})
                  ->wait();
  if (!sent) return pass(sent);
  if (auto whole = unpack_ids(); !whole) return pass(whole);
  lay_out_vectors();
  return &owned_batch_;
}

Status VectorExchange::take_ids(const Batch& dealt, const Batch& mine) {
  for (std::size_t rank = 0; rank < parts(); ++rank) {
    const auto [first, end] =
        rows_of_rank(dealt.rows, static_cast<int>(rank), static_cast<int>(parts()));
    rows_of_[rank] = end - first;
    first_row_[rank + 1] = end;
  }
  if (dealt.sparse_features != owned().size() || mine.rows != rows()) {
    return fail(Code::kCorrupt, "the ids of batch " + std::to_string(dealt.number) +
                                    " that came before the step are not those of its rows");
  }
  lay_out_vectors();
  return {};
}

Status VectorExchange::exchange_sizes(const Batch& mine) {
  first_id_.assign(1, 0);
  for (std::size_t feature = 0; feature < owner_.size(); ++feature) {
    const std::int32_t* lengths = mine.lengths + feature * mine.rows;
    const auto ids = std::accumulate(lengths, lengths + mine.rows, std::int64_t{0});
    first_id_.push_back(first_id_.back() + static_cast<std::size_t>(ids));
  }
  FOREBAY_CHECK(first_id_.back() == mine.num_ids);
  std::ranges::fill(headers_out_, Header{mine.rows, 0});
  for (std::size_t feature = 0; feature < owner_.size(); ++feature) {
    headers_out_[owner_[feature]].ids += first_id_[feature + 1] - first_id_[feature];
  }
  auto headers = exchange_each(ranks_, headers_out_);
  if (!headers) return pass(headers);
  for (std::size_t rank = 0; rank < parts(); ++rank) {
    const Header& header = (*headers)[rank];
    // No batch is that large: the ranks are out of step.
    constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
    if (header.rows > kMost || header.ids > kMost) {
      return fail(Code::kCorrupt, "rank " + std::to_string(rank) + " is at another operation");
    }
    rows_of_[rank] = header.rows;
    ids_of_[rank] = header.ids;
    first_row_[rank + 1] = first_row_[rank] + header.rows;
    bytes_out_[rank] = length_bytes(features_of_[rank].size() * mine.rows) +
                       headers_out_[rank].ids * sizeof(std::int64_t);
    bytes_in_[rank] =
        length_bytes(owned().size() * header.rows) + header.ids * sizeof(std::int64_t);
  }
  return {};
}

void VectorExchange::pack_ids(const Batch& mine) {
  grow(out_, sum(bytes_out_));
  grow(in_, sum(bytes_in_));
  std::byte* to = out_.data();
  for (const auto& features : features_of_) {
    std::byte* at = to;
    for (const std::size_t feature : features) {
      at = put(at, mine.lengths + feature * mine.rows, mine.rows);
    }
    at = to + length_bytes(features.size() * mine.rows);
    for (const std::size_t feature : features) {
      const std::size_t first = first_id_[feature];
      at = put(at, mine.ids + first, first_id_[feature + 1] - first);
    }
    to = at;
  }
}

Status VectorExchange::unpack_ids() {
  const std::size_t rows = global_rows();
  const std::size_t features = owned().size();
  grow(lengths_, features * rows);
  grow(ids_, sum(ids_of_));
  std::vector<const std::byte*> lengths(parts()), ids(parts());
  std::vector<std::size_t> left = ids_of_;
  const std::byte* from = in_.data();
  for (std::size_t rank = 0; rank < parts(); ++rank) {
    lengths[rank] = from;
    ids[rank] = from + length_bytes(features * rows_of_[rank]);
    from += bytes_in_[rank];
  }
  std::int64_t* next = ids_.data();
  for (std::size_t feature = 0; feature < features; ++feature) {
    for (std::size_t rank = 0; rank < parts(); ++rank) {
      std::int32_t* to = lengths_.data() + feature * rows + first_row_[rank];
      const std::size_t count = rows_of_[rank];
      if (count > 0) std::memcpy(to, lengths[rank], count * sizeof(*to));
      lengths[rank] += count * sizeof(*to);
      const bool sane =
          std::all_of(to, to + count, [](std::int32_t length) { return length >= 0; });
      const auto bag_ids =
          static_cast<std::size_t>(std::accumulate(to, to + count, std::int64_t{0}));
      if (!sane || bag_ids > left[rank]) {
        return fail(Code::kCorrupt, "rank " + std::to_string(rank) + " sent lengths without ids");
      }
      if (bag_ids > 0) std::memcpy(next, ids[rank], bag_ids * sizeof(*next));
      ids[rank] += bag_ids * sizeof(*next);
      left[rank] -= bag_ids;
      next += bag_ids;
    }
  }
  owned_batch_.rows = rows;
  owned_batch_.sparse_features = features;
  owned_batch_.num_ids = static_cast<std::size_t>(next - ids_.data());
  owned_batch_.lengths = lengths_.data();
  owned_batch_.ids = ids_.data();
  return {};
}

void VectorExchange::lay_out_vectors() {
  std::size_t user = 0;
  std::size_t owner = 0;
  for (std::size_t rank = 0; rank < parts(); ++rank) {
    to_owner_at_[rank] = user;
    to_user_at_[rank] = owner;
    const bool self = rank == rank_;
    const std::size_t theirs = self ? 0 : vectors_of(features_of_[rank].size(), rows());
    const std::size_t ours = self ? 0 : vectors_of(owned().size(), rows_of_[rank]);
    to_owner_bytes_[rank] = theirs * sizeof(float);
    to_user_bytes_[rank] = ours * sizeof(float);
    user += theirs;
    owner += ours;
  }
  grow(user_side_, user);
  grow(owner_side_, owner);
  grow(own_vectors_, vectors_of(owned().size(), rows()));
}

VectorExchange::Part VectorExchange::part(std::size_t owned_feature, std::size_t rank) {
  float* first = rank == rank_ ? own_vectors_.data() : owner_side_.data() + to_user_at_[rank];
  float* vectors = first + vectors_of(owned_feature, rows_of_[rank]);
  return {.first_row = first_row_[rank], .rows = rows_of_[rank], .vectors = vectors};
}

void VectorExchange::start(std::span<const float> send, const Sizes& send_bytes,
                           std::span<float> receive, const Sizes& receive_bytes) {
  pending_ = ranks_.start_all_to_all({std::as_bytes(send).first(sum(send_bytes)), send_bytes,
                                      std::as_writable_bytes(receive).first(sum(receive_bytes)),
                                      receive_bytes});
}

const float* VectorExchange::vectors(std::size_t feature) const {
  const std::size_t owner = owner_[feature];
  const float* first =
      owner == rank_ ? own_vectors_.data() : user_side_.data() + to_owner_at_[owner];
  return first + vectors_of(place_[feature], rows());
}

void VectorExchange::start_gradients(std::span<const float* const> gradients) {
  const std::size_t block = vectors_of(1, rows());
  own_gradients_.clear();
  for (std::size_t feature = 0; feature < owner_.size(); ++feature) {
    if (owner_[feature] == rank_) {
      own_gradients_.push_back(gradients[feature]);
      continue;
    }
    float* to =
        user_side_.data() + to_owner_at_[owner_[feature]] + vectors_of(place_[feature], rows());
    if (block > 0) std::memcpy(to, gradients[feature], block * sizeof(float));
  }
  start(user_side_, to_owner_bytes_, owner_side_, to_user_bytes_);
}

std::uint64_t VectorExchange::bytes_for(std::size_t features, std::size_t ranks, std::size_t dim,
                                        std::uint64_t global_rows, std::uint64_t global_ids) {
  const std::uint64_t rows = (global_rows + ranks - 1) / ranks;
  const std::uint64_t owned = (features + ranks - 1) / ranks;
  const std::uint64_t vectors = rows * features + global_rows * owned;
  // Bags differ in size between ranks: at worst all ids are here, being sent and received.
  return vectors * dim * sizeof(float) + 3 * global_ids * sizeof(std::int64_t) +
         (rows * features + 2 * global_rows * owned) * sizeof(std::int32_t);
}

}  // namespace forebay
