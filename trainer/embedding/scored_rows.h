#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/snapshot.h"
#include "trainer/spec.h"

namespace forebay {

/// What scoring wants of the embedding tables in a state: every id's row, without the optimizer's
/// values and without slot metadata, in one piece a table.
///
/// Tables in memory and in tiers: row k is key k's, ids are folded into keys; a row nobody trained
/// has its first values. Hashed ones: row 0 is the one that ids share, row 1 + i that of
/// keys(t)[i].
///
/// Opened, it has read the slot metadata and knows the sizes. Then begin(), take() of every tensor
/// of weights in their order, end(). Belongs to one thread; refuses (kCorrupt) what does not fit
/// together.
class ScoredRows {
 public:
  using Tables = std::vector<std::span<float>>;

  static Result<std::unique_ptr<ScoredRows>> open(const TrainerSpec& spec, const ModelShape& shape,
                                                  StateSource& state);
  virtual ~ScoredRows() = default;

  std::size_t tables() const { return rows_.size(); }
  std::size_t rows(std::size_t table) const { return rows_[table]; }
  /// Of hashed tables: the ids that have rows of their own, ascending. Else empty.
  std::span<const std::int64_t> keys(std::size_t table) const { return keys_[table]; }
  /// Of all rows and keys.
  std::uint64_t bytes() const;

  /// Where the rows shall lie: rows(t) · row_width values each, which live until end().
  Status begin(StateSource& state, Tables into);
  /// Reads tensor `index` of the state if it holds rows; false: it is another.
  Result<bool> take(StateSource& state, std::size_t index);
  /// Refuses a state that lacked some.
  Status end() const;

 protected:
  explicit ScoredRows(TableLayout layout);

  /// A tensor of rows in slots.
  struct Arena {
    std::string name;
    std::size_t slots = 0;
    bool taken = false;
  };

  /// What is known before the tensors are read.
  virtual Status fill(StateSource&) { return {}; }
  /// The place of the row in a slot; nullptr: nobody wants it.
  virtual float* place(std::size_t arena, std::size_t slot) = 0;

  float* row(std::size_t table, std::size_t number) const {
    return into_[table].data() + number * layout_.width;
  }

  const TableLayout layout_;
  std::vector<Arena> arenas_;
  std::vector<std::size_t> rows_;  // by table, as keys_
  std::vector<std::vector<std::int64_t>> keys_;

 private:
  Status read_slots(StateSource& state, std::size_t index, std::size_t arena);

  Tables into_;
};

/// A tensor of what tables keep beside weights, whole. kCorrupt where `state` lacks it, or it is of
/// another type or extent; -1: any extent.
template <class T>
Result<std::vector<T>> read_metadata_tensor(StateSource& state, const std::string& name,
                                            ElementType type, std::int64_t extent);

/// One file each.
Result<std::unique_ptr<ScoredRows>> open_hashed_rows(TableLayout layout, StateSource& state);
Result<std::unique_ptr<ScoredRows>> open_tiered_rows(TableLayout layout, StateSource& state);

}  // namespace forebay
