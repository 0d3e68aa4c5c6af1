#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/batch_lists.h"
#include "trainer/collective.h"
#include "trainer/ranks/placement.h"

namespace forebay {

/// Brings the pooled vectors of a batch from the ranks that own the features' tables to the ranks
/// that have its rows, and the gradients back: a vector and a gradient for each list (BatchLists).
///
/// Each owner sees the gradients in the order of the global batch, independent of how its rows are
/// divided among ranks, so the updates of its tables do not depend on the number of ranks, but for
/// the last bits where rows of several ranks share a list. A step is begin, start_vectors and wait,
/// start_gradients and wait, on every rank and in this order, on one thread. Owns the buffers;
/// returned memory is valid until the next step.
class VectorExchange {
 public:
  /// `ranks` outlives it.
  VectorExchange(Collective& ranks, FeatureOwners owners, std::size_t dim);

  /// The features of this rank, ascending.
  const std::vector<std::size_t>& owned() const { return owners_.features_of[rank_]; }

  /// What a step exchanges vectors of.
  struct Step {
    const Batch& ids;  ///< Of the global batch, for owned(); rows of different ranks share no list.
    const BatchLists& id_lists;               ///< Of `ids`.
    std::span<const std::size_t> first_rows;  ///< [ranks + 1]: where each rank's rows begin in it.
    std::span<const std::size_t> lists;       ///< [features]: of this rank's rows.
  };
  /// kCorrupt: `ids` has other lists of this rank's rows than it says.
  Status begin(const Step& step);

  /// A run of lists of a feature, all from one rank.
  struct Part {
    std::size_t first_list = 0;
    std::size_t lists = 0;
    float* vectors = nullptr;  ///< [lists, dim]: written by the owner of the feature.
  };
  std::size_t parts() const { return owners_.features_of.size(); }
  Part part(std::size_t owned_feature, std::size_t rank);

  /// Call it once every part of every owned feature is filled.
  void start_vectors() { start(owner_side_, to_user_bytes_, user_side_, to_owner_bytes_); }
  /// [lists of this rank's rows, dim] of any feature; valid after wait().
  const float* vectors(std::size_t feature) const;

  /// Sends the gradients of this rank's lists: [lists, dim] for each feature. Those for itself are
  /// not copied.
  void start_gradients(std::span<const float* const> gradients);
  /// Gradients of the lists of part(owned_feature, rank); valid after wait().
  const float* gradients(std::size_t owned_feature, std::size_t rank) {
    return rank == rank_ ? own_gradients_[owned_feature] : part(owned_feature, rank).vectors;
  }

  /// Blocks until the vectors or gradients that were started have arrived.
  Status wait() { return std::exchange(pending_, nullptr)->wait(); }

 private:
  using Sizes = std::vector<std::size_t>;

  std::size_t lists_of(std::size_t owned_feature, std::size_t rank) const {
    const std::size_t at = owned_feature * (parts() + 1) + rank;
    return first_list_[at + 1] - first_list_[at];
  }
  void count_lists(const Step& step);
  Status check_own(const Step& step) const;
  /// Computes the places of the vectors.
  void lay_out();
  /// Starts to send the values for all ranks, in the ranks' order, and to receive those from them.
  void start(std::span<const float> send, const Sizes& send_bytes, std::span<float> receive,
             const Sizes& receive_bytes);

  Collective& ranks_;
  const FeatureOwners owners_;
  const std::size_t rank_;
  const std::size_t dim_;

  Sizes lists_;                           // per feature: of this rank's rows
  Sizes first_list_;                      // [owned, ranks + 1]: of each rank's rows, and the end
  Sizes to_owner_bytes_, to_user_bytes_;  // of gradients or vectors; 0 for the rank itself
  Sizes user_at_;   // per feature, in floats: in user_side_, or its own in own_vectors_
  Sizes owner_at_;  // [owned, ranks], in floats: in owner_side_, or its own in own_vectors_
  std::vector<float> user_side_;             // by other owner: its features' vectors
  std::vector<float> owner_side_;            // by other rank: the owned features' vectors
  std::vector<float> own_vectors_;           // the owned features' vectors of its own rows
  std::vector<const float*> own_gradients_;  // per owned feature: gradients from itself
  Collective::Handle pending_;
};

/// The most bytes that an IdExchange and a VectorExchange use for global batches of this size.
struct ExchangeSize {
  std::size_t features = 0;  ///< Tables, or parts of tables.
  std::size_t ranks = 1;
  std::size_t dim = 0;
  std::uint64_t rows = 0;
  std::uint64_t ids = 0;

  std::uint64_t bytes() const;
};

}  // namespace forebay
