#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/collective.h"

namespace forebay {

/// Sends the ids of a batch to the ranks that own the features' tables, the pooled vectors back,
/// and the gradients to the owners again.
///
/// Each owner sees the ids of the global batch in the batch's order, independent of how its rows
/// are divided among ranks, so the updates of its tables do not depend on the number of ranks. A
/// step is exchange_ids, start_vectors and wait, start_gradients and wait, on
/// every rank and in this order, on one thread. Owns the buffers; returned memory is valid until
/// the next step.
class VectorExchange {
 public:
  /// `owners` names a rank for each feature. `ranks` outlives it.
  VectorExchange(Collective& ranks, std::vector<int> owners, std::size_t dim);

  /// The features of this rank, ascending.
  const std::vector<std::size_t>& owned() const { return features_of_[rank_]; }

  /// Returns the ids of the global batch for the features of this rank, as a batch without labels
  /// and dense features, with one sparse feature for each of owned(). `mine` may have no rows.
  Result<const Batch*> exchange_ids(const Batch& mine);

  /// Uses ids that arrived before the step, `dealt`, without communication. All ranks call it, or
  /// none of them.
  Status take_ids(const Batch& dealt, const Batch& mine);

  std::size_t rows() const { return rows_of_[rank_]; }  ///< Of this rank's share.
  std::size_t global_rows() const { return first_row_.back(); }
  std::size_t first_row() const { return first_row_[rank_]; }  ///< Of this rank's share.

  /// A run of rows of the global batch, all from one rank.
  struct Part {
    std::size_t first_row = 0;
    std::size_t rows = 0;
    float* vectors = nullptr;  ///< [rows, dim]: written by the owner of the feature.
  };
  std::size_t parts() const { return rows_of_.size(); }
  Part part(std::size_t owned_feature, std::size_t rank);

  /// Call it once every part of every owned feature is filled.
  void start_vectors() { start(owner_side_, to_user_bytes_, user_side_, to_owner_bytes_); }
  /// [rows(), dim] of any feature; valid after wait().
  const float* vectors(std::size_t feature) const;

  /// Sends the gradients of this rank's rows: [rows(), dim] for each feature. Those for itself are
  /// not copied.
  void start_gradients(std::span<const float* const> gradients);
  /// Gradients of the rows of part(owned_feature, rank); valid after wait().
  const float* gradients(std::size_t owned_feature, std::size_t rank) {
    return rank == rank_ ? own_gradients_[owned_feature] : part(owned_feature, rank).vectors;
  }

  /// Blocks until the vectors or gradients that were started have arrived.
  Status wait() { return std::exchange(pending_, nullptr)->wait(); }

  /// The most bytes for global batches of this size.
  static std::uint64_t bytes_for(std::size_t features, std::size_t ranks, std::size_t dim,
                                 std::uint64_t global_rows, std::uint64_t global_ids);

 private:
  struct Header {
    std::uint64_t rows;
    std::uint64_t ids;
  };
  using Sizes = std::vector<std::size_t>;  // per rank

  Status exchange_sizes(const Batch& mine);
  void pack_ids(const Batch& mine);
  Status unpack_ids();
  std::size_t vectors_of(std::size_t features, std::size_t rows) const {
    return features * rows * dim_;
  }
  /// Computes the offsets in floats, and the bytes, of blocks that differ by rank.
  void lay_out_vectors();
  /// Starts to send the values for all ranks, in the ranks' order, and to receive those from them.
  void start(std::span<const float> send, const Sizes& send_bytes, std::span<float> receive,
             const Sizes& receive_bytes);

  Collective& ranks_;
  const std::size_t rank_;
  const std::size_t dim_;
  std::vector<std::vector<std::size_t>> features_of_;  // per rank
  std::vector<std::size_t> owner_, place_;  // per feature: rank, and index among its features

  Sizes rows_of_, ids_of_;              // of each rank's share; ids for the features of this rank
  std::vector<std::size_t> first_row_;  // per rank, and the end
  std::vector<std::size_t> first_id_;   // of this rank's batch, per feature, and the end
  std::vector<Header> headers_out_;
  Sizes bytes_out_, bytes_in_;            // of the ids
  Sizes to_owner_bytes_, to_user_bytes_;  // of gradients or vectors; 0 for the rank itself
  Sizes to_owner_at_, to_user_at_;        // in floats
  std::vector<std::byte> out_, in_;
  std::vector<std::int32_t> lengths_;  // [owned, global rows]
  std::vector<std::int64_t> ids_;
  Batch owned_batch_;
  std::vector<float> user_side_;             // by other owner: [its features, rows(), dim]
  std::vector<float> owner_side_;            // by other rank: [owned, its rows, dim]
  std::vector<float> own_vectors_;           // [owned, rows(), dim]: from itself to itself
  std::vector<const float*> own_gradients_;  // per owned feature: gradients from itself
  Collective::Handle pending_;
};

}  // namespace forebay
