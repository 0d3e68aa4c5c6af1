#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "trainer/snapshot.h"

namespace forebay {

/// The states of all ranks as that of one model: the dense part is rank 0's, as all have the same;
/// each table is its owner's, or those parts of it that ranks have, one after the other. What
/// tables keep beside without being of one ("tables.steps") is the first rank's that has it: all
/// count the same steps. Files there are none: tables in tiers are told whole (WholeTables). The
/// tensors stand in one order whatever the number of ranks: by part, the dense ones, then the
/// tables by number.
class MergedState final : public StateSource {
 public:
  explicit MergedState(std::vector<std::unique_ptr<StateSource>> ranks);

  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override;
  void give_up() override;

 private:
  /// Rows of a tensor, from `first` on, as a rank has them.
  struct Piece {
    std::int64_t first = 0;
    std::size_t rank = 0;
    std::size_t index = 0;
  };
  void add(const StateTensor& tensor, const Piece& piece);

  const std::vector<std::unique_ptr<StateSource>> ranks_;
  std::vector<StateTensor> tensors_;
  std::vector<std::vector<Piece>> pieces_;  // by first row
};

/// Those tensors of a state, or rows of them, that a rank's model has, in the state's order.
class PartOfState final : public StateSource {
 public:
  /// `whole` outlives it. What `wanted` has and it has not is left out: the model says so.
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

/// A state that any number of threads may read, as one of its readers has it.
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
