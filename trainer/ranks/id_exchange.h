#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/batch_lists.h"
#include "trainer/collective.h"
#include "trainer/ranks/placement.h"

namespace forebay {

/// Sends the ids of a batch's shares to the ranks that own the features' tables. Lists that several
/// rows of a rank share travel once.
///
/// Each owner sees the ids of the global batch in the batch's order, independent of how its rows
/// are divided among ranks. One thread, the same calls on every rank; `ranks` outlives it.
class IdExchange {
 public:
  IdExchange(Collective& ranks, FeatureOwners owners);

  /// Returns the ids of the global batch for the features of this rank, as a batch without labels
  /// and dense features, with one sparse feature for each of them, valid until the next call. Rows
  /// of different ranks share no list. `mine` may have no rows.
  Result<const Batch*> exchange(const Batch& mine);

  /// [ranks + 1]: where each rank's rows begin in the global batch, and their number.
  const std::vector<std::size_t>& first_rows() const { return first_row_; }

 private:
  /// The size of a rank's share of a feature.
  struct FeatureSize {
    static constexpr std::uint64_t kOfRows = ~std::uint64_t{0};
    std::uint64_t lists = kOfRows;  ///< kOfRows: each row has its own.
    std::uint64_t ids = 0;

    bool is_shared() const { return lists != kOfRows; }
    /// The numbers that travel: lengths of the lists, and the list of each row if rows share them.
    std::size_t numbers(std::size_t rows) const { return is_shared() ? lists + rows : rows; }
  };
  /// The part of a rank's message that is read next.
  struct Cursor {
    const std::byte* numbers = nullptr;
    const std::byte* ids = nullptr;
  };

  std::size_t owned() const { return owners_.features_of[rank_].size(); }
  std::size_t rows_of(std::size_t rank) const { return first_row_[rank + 1] - first_row_[rank]; }
  const FeatureSize& size_in(std::size_t feature, std::size_t rank) const {
    return sizes_in_[rank * owned() + feature];
  }
  /// Whether rows of some rank share lists of the feature.
  bool is_shared(std::size_t feature) const;
  void measure(const BatchLists& lists);
  Status exchange_sizes(std::size_t rows);
  Status take_sizes(const std::uint64_t* from);
  void pack(const Batch& mine, const BatchLists& lists);
  Status unpack();
  /// Reads a rank's share of a feature, but for its ids; false if it is not what was announced.
  bool unpack_lists(std::size_t feature, std::size_t rank, Cursor& from);
  void point_batch();

  Collective& ranks_;
  const FeatureOwners owners_;
  const std::size_t rank_;
  std::vector<std::size_t> first_row_;  // per rank, and the end
  std::vector<FeatureSize> sizes_out_;  // per feature, of this rank's rows
  std::vector<FeatureSize> sizes_in_;   // [ranks, owned]
  std::vector<std::size_t> bytes_out_, bytes_in_;
  std::vector<std::byte> out_, in_;
  std::vector<std::int32_t> lengths_;  // [owned, global rows]
  std::vector<OwnedRepeats> shared_;   // [owned]: of features in which rows share lists
  std::vector<std::int32_t> read_lengths_;
  std::vector<std::uint32_t> read_numbers_;
  std::vector<std::int64_t> ids_;
  Batch batch_;
};

}  // namespace forebay
