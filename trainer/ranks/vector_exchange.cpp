#include "trainer/ranks/vector_exchange.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "core/base/check.h"

namespace forebay {
namespace {

std::size_t sum(const std::vector<std::size_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::size_t{0});
}

void grow(std::vector<float>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

}  // namespace

VectorExchange::VectorExchange(Collective& ranks, FeatureOwners owners, std::size_t dim)
    : ranks_(ranks),
      owners_(std::move(owners)),
      rank_(static_cast<std::size_t>(ranks.rank())),
      dim_(dim),
      first_list_(owned().size() * (parts() + 1)),
      to_owner_bytes_(parts()),
      to_user_bytes_(parts()),
      user_at_(owners_.owner.size()),
      owner_at_(owned().size() * parts()) {}

Status VectorExchange::begin(const Step& step) {
  FOREBAY_CHECK(step.lists.size() == owners_.owner.size());
  lists_.assign(step.lists.begin(), step.lists.end());
  if (step.ids.sparse_features == owned().size()) count_lists(step);
  if (auto checked = check_own(step); !checked) return checked;
  lay_out();
  return {};
}

// The first rows of lists ascend, so a rank's lists are those whose first rows are its own.
void VectorExchange::count_lists(const Step& step) {
  for (std::size_t feature = 0; feature < owned().size(); ++feature) {
    std::size_t* first = first_list_.data() + feature * (parts() + 1);
    const BatchRepeats* repeats = step.id_lists.repeats(feature);
    for (std::size_t rank = 0; rank <= parts(); ++rank) {
      first[rank] = step.first_rows[rank];
      if (repeats == nullptr) continue;
      const std::span first_rows(repeats->first_rows, repeats->unique);
      const auto border = std::ranges::lower_bound(first_rows, first[rank]);
      first[rank] = static_cast<std::size_t>(border - first_rows.begin());
    }
  }
}

Status VectorExchange::check_own(const Step& step) const {
  bool agrees =
      step.ids.sparse_features == owned().size() && step.ids.rows == step.first_rows[parts()];
  for (std::size_t feature = 0; agrees && feature < owned().size(); ++feature) {
    agrees = lists_of(feature, rank_) == lists_[owned()[feature]];
  }
  if (agrees) return {};
  return fail(Code::kCorrupt, "the ids of batch " + std::to_string(step.ids.number) +
                                  " that came before the step are not those of its rows");
}

void VectorExchange::lay_out() {
  std::size_t own = 0;
  std::size_t user = 0;
  std::size_t owner = 0;
  for (std::size_t rank = 0; rank < parts(); ++rank) {
    const std::size_t user_before = user;
    const std::size_t owner_before = owner;
    for (const std::size_t feature : owners_.features_of[rank]) {
      std::size_t& next = rank == rank_ ? own : user;
      user_at_[feature] = next;
      next += lists_[feature] * dim_;
    }
    for (std::size_t feature = 0; feature < owned().size(); ++feature) {
      std::size_t& at = owner_at_[feature * parts() + rank];
      if (rank == rank_) {
        at = user_at_[owned()[feature]];
      } else {
        at = owner;
        owner += lists_of(feature, rank) * dim_;
      }
    }
    to_owner_bytes_[rank] = (user - user_before) * sizeof(float);
    to_user_bytes_[rank] = (owner - owner_before) * sizeof(float);
  }
  grow(user_side_, user);
  grow(owner_side_, owner);
  grow(own_vectors_, own);
}

VectorExchange::Part VectorExchange::part(std::size_t owned_feature, std::size_t rank) {
  std::vector<float>& side = rank == rank_ ? own_vectors_ : owner_side_;
  return {.first_list = first_list_[owned_feature * (parts() + 1) + rank],
          .lists = lists_of(owned_feature, rank),
          .vectors = side.data() + owner_at_[owned_feature * parts() + rank]};
}

void VectorExchange::start(std::span<const float> send, const Sizes& send_bytes,
                           std::span<float> receive, const Sizes& receive_bytes) {
  pending_ = ranks_.start_all_to_all({std::as_bytes(send).first(sum(send_bytes)), send_bytes,
                                      std::as_writable_bytes(receive).first(sum(receive_bytes)),
                                      receive_bytes});
}

const float* VectorExchange::vectors(std::size_t feature) const {
  const std::vector<float>& side = owners_.owner[feature] == rank_ ? own_vectors_ : user_side_;
  return side.data() + user_at_[feature];
}

void VectorExchange::start_gradients(std::span<const float* const> gradients) {
  own_gradients_.clear();
  for (std::size_t feature = 0; feature < owners_.owner.size(); ++feature) {
    if (owners_.owner[feature] == rank_) {
      own_gradients_.push_back(gradients[feature]);
      continue;
    }
    const std::size_t bytes = lists_[feature] * dim_ * sizeof(float);
    if (bytes > 0) std::memcpy(user_side_.data() + user_at_[feature], gradients[feature], bytes);
  }
  start(user_side_, to_owner_bytes_, owner_side_, to_user_bytes_);
}

std::uint64_t ExchangeSize::bytes() const {
  const std::uint64_t own_rows = (rows + ranks - 1) / ranks;
  const std::uint64_t owned = (features + ranks - 1) / ranks;
  const std::uint64_t vectors = own_rows * features + rows * owned;
  // Lengths of lists, and the rows' lists. Bags differ in size between ranks: at worst all ids are
  // here, being sent and received.
  const std::uint64_t numbers = 2 * own_rows * features + 5 * rows * owned;
  return vectors * dim * sizeof(float) + 3 * ids * sizeof(std::int64_t) +
         numbers * sizeof(std::int32_t);
}

}  // namespace forebay
