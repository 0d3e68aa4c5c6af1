#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/spec.h"
#include "trainer/state/snapshot.h"

namespace forebay {

/// The embedding rows of a state for scoring: every id's row, without the optimizer's values and
/// without slot metadata, as one contiguous tensor per table.
///
/// Tables in memory and tiered tables: row k belongs to key k, and ids are folded into keys; an
/// untrained row has its first values. Hashed tables: row 0 is the shared row, row 1 + i belongs to
/// keys(t)[i].
///
/// Once opened it has read the slot metadata and knows the sizes. Then call begin(), take() for
/// every tensor of weights in their order, and end(). Belongs to one thread; returns kCorrupt if
/// parts of the state are inconsistent.
class ScoredRows {
 public:
  using Tables = std::vector<std::span<float>>;

  static Result<std::unique_ptr<ScoredRows>> open(const TrainerSpec& spec, const ModelShape& shape,
                                                  StateSource& state);
  virtual ~ScoredRows() = default;

  std::size_t tables() const { return rows_.size(); }
  std::size_t rows(std::size_t table) const { return rows_[table]; }
  /// Of hashed tables: the ids that have rows of their own, ascending. Otherwise empty.
  std::span<const std::int64_t> keys(std::size_t table) const { return keys_[table]; }
  /// Bytes of all rows and keys.
  std::uint64_t bytes() const;

  /// Sets the destination of the rows: rows(t) · row_width values per table, valid until end().
  Status begin(StateSource& state, Tables into) {
    into_ = std::move(into);
    return fill(state);
  }
  /// Reads tensor `index` of the state if it holds rows; returns false for another tensor.
  Result<bool> take(StateSource& state, std::size_t index);
  /// Returns an error if the state lacked some rows.
  Status end() const;

 protected:
  explicit ScoredRows(TableLayout layout);

  /// A tensor of rows in slots.
  struct Arena {
    std::string name;
    std::size_t slots = 0;
    bool taken = false;
  };

  /// Reads the slot metadata.
  virtual Status read_metadata(StateSource&) { return {}; }
  /// Reads the values that are known before the tensors are read.
  virtual Status fill(StateSource&) { return {}; }
  /// Destination of the row in a slot; nullptr if the row is not needed.
  virtual float* place(std::size_t arena, std::size_t slot) = 0;

  float* row(std::size_t table, std::size_t number) const {
    return into_[table].data() + number * layout_.width;
  }

  const TableLayout layout_;
  std::vector<Arena> arenas_;
  std::vector<std::size_t> rows_;  // by table, as keys_
  std::vector<std::vector<std::int64_t>> keys_;

 private:
  Tables into_;
};

/// Reads a whole tensor of slot metadata. Returns kCorrupt if `state` lacks it, or if its type or
/// extent differs; -1 allows any extent.
template <class T>
Result<std::vector<T>> read_metadata_tensor(StateSource& state, const std::string& name,
                                            std::int64_t extent) {
  StateTensor wanted = metadata_tensor<T>(name, static_cast<std::size_t>(extent));
  const auto& tensors = state.tensors();
  const auto found = std::ranges::find_if(tensors, [&](const StateTensor& tensor) {
    return tensor.part == wanted.part && tensor.name == name;
  });
  if (found == tensors.end()) return fail(Code::kCorrupt, "the checkpoint lacks " + name);
  if (extent < 0 && found->shape.size() == 1) wanted.shape = found->shape;
  if (*found != wanted) {
    return fail(Code::kCorrupt, name + " has other extents than the model");
  }
  std::vector<T> metadata(static_cast<std::size_t>(found->shape[0]));
  auto read = state.read(static_cast<std::size_t>(found - tensors.begin()), 0,
                         std::as_writable_bytes(std::span(metadata)));
  if (!read) return pass(read);
  return metadata;
}

}  // namespace forebay
