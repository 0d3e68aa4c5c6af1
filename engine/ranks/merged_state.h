#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "trainer/model.h"
#include "trainer/state/snapshot.h"

namespace forebay {

/// The states of all ranks as the state of one model. The dense part is rank 0's, since it is equal
/// on all ranks; each table is its owner's, or the concatenation of the parts that ranks own.
/// Values that belong to all tables together ("tables.steps") are taken from the first rank that
/// has them: all ranks count the same steps. There are no linked files: tiered tables are merged as
/// full tensors (whole_tables). The order of the tensors does not depend on the number of ranks: by
/// part, the dense ones, then the tables by number.
class MergedState final : public StateSource {
 public:
  explicit MergedState(std::vector<std::unique_ptr<StateSource>> ranks);

  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override;
  void give_up() override;

 private:
  /// Rows of a tensor from `first` on, owned by one rank.
  struct Piece {
    std::int64_t first = 0;
    std::size_t rank = 0;
    std::size_t index = 0;
  };
  void add(const StateTensor& tensor, const Piece& piece);

  const std::vector<std::unique_ptr<StateSource>> ranks_;
  std::vector<StateTensor> tensors_;
  std::vector<std::vector<Piece>> pieces_;  // sorted by first row
};

/// The tensors of a state, or rows of them, that one rank's model has, in the state's order.
class PartOfState final : public StateSource {
 public:
  /// `whole` outlives it. Tensors of `wanted` that `whole` lacks are left out; the model reports
  /// them when it restores.
  PartOfState(StateSource& whole, const std::vector<StateTensor>& wanted);

  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override {
    return whole_.read(locations_[index].index, locations_[index].offset + offset, to);
  }

 private:
  struct Location {
    std::size_t index = 0;
    std::uint64_t offset = 0;
  };

  StateSource& whole_;
  std::vector<StateTensor> tensors_;
  std::vector<Location> locations_;
};

/// Restores the part of `whole` that `model` has.
Status restore_part(StateSource& whole, Model& model);

/// A state shared by several readers on any threads; each reader holds one SharedState.
class SharedState final : public StateSource {
 public:
  explicit SharedState(std::shared_ptr<StateSource> whole) : whole_(std::move(whole)) {}

  const std::vector<StateTensor>& tensors() const override { return whole_->tensors(); }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override {
    return whole_->read(index, offset, to);
  }

 private:
  const std::shared_ptr<StateSource> whole_;
};

}  // namespace forebay
