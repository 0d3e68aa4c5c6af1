#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "trainer/embedding/batch_rows.h"
#include "trainer/embedding/row_arena.h"
#include "trainer/embedding/row_values.h"
#include "trainer/memory_source.h"

namespace forebay {

/// What tables are made of: a row has `width` weights, of which `dim` begin at random and the rest
/// at 0, and `state_width` values of the optimizer's, which begin at 0.
struct TableLayout {
  std::vector<std::int64_t> rows;  ///< Per table.
  std::vector<std::size_t> features =
      {};  ///< Which of the model's each is of; empty: all, in order.
  /// Of parts of tables: which row of the whole the first one is, and the rows of the whole. Empty:
  /// the tables are whole.
  std::vector<std::int64_t> first = {};
  std::vector<std::int64_t> whole = {};
  std::size_t width = 0;
  std::size_t dim = 0;
  std::size_t state_width = 0;
  std::uint64_t seed = 0;

  std::size_t feature_of(std::size_t table) const {
    return features.empty() ? table : features[table];
  }
  std::int64_t first_of(std::size_t table) const { return first.empty() ? 0 : first[table]; }
  std::int64_t whole_of(std::size_t table) const {
    return whole.empty() ? rows[table] : whole[table];
  }
  /// Of its tensors: "table.3", and of a part from row 100 on "table.3.from.100".
  std::string name_of(std::size_t table) const;
  /// The rows of a table, or a part of one, as a tensor.
  StateTensor tensor_of(std::size_t table, StateTensor::Part part) const;
  /// Their first values; by a row's number in the whole table.
  RowValues values_of(std::size_t table) const {
    return {seed, feature_of(table), whole_of(table), dim};
  }
  std::uint64_t row_bytes() const { return (width + state_width) * sizeof(float); }
};

/// Gives the rows of the tables their slots. What a row holds is a function of the ids and steps so
/// far; a storage decides where rows lie, and which ids have rows of their own.
///
/// Batches to be trained on have turns, ascending by one from 1: prepare(1), prepare(2), …, each
/// finished once it was stepped on; or they are borrowed for and given back, one at a time. Calls
/// exclude each other, but for arenas: a slot belongs to the batches it was given to until they
/// are finished or given back, and the model may work on them meanwhile.
class TableStorage {
 public:
  enum class Use : std::uint8_t {
    kTrain,
    kScore,  ///< Nothing is counted, no row is admitted, none changes.
  };

  virtual ~TableStorage() = default;

  /// The rows of each table, as keys are folded into them; 0: keys are ids.
  virtual std::vector<std::int64_t> folds() const = 0;

  /// The arena of a feature; features may share one.
  virtual RowArena& arena(std::size_t feature) = 0;

  /// Whether batches may be prepared before those before them were stepped on; else each is as its
  /// step begins.
  virtual bool looks_ahead() const = 0;

  /// Gives each row of a batch a slot, until `turn` is finished; the row's values are in it once
  /// the turn was awaited. kOverloaded: not before an earlier turn is finished. Anything else
  /// stands: the tables are lost.
  virtual Status prepare(BatchRows& rows, std::uint64_t turn) = 0;
  /// Returns when the rows of a turn that was prepared are in their slots. Like awaited(), may be
  /// called by any thread at any time.
  virtual Status await(std::uint64_t) { return {}; }
  /// Ids of that turn whose rows are not there yet.
  virtual std::uint64_t awaited(std::uint64_t) const { return 0; }
  /// Turns up to this one were stepped on, or never will be.
  virtual void finish(std::uint64_t turn) = 0;

  /// Likewise, for a batch out of turn.
  virtual Status borrow(BatchRows& rows, Use use) = 0;
  virtual void give_back(const BatchRows& rows) = 0;

  /// A snapshot of `others` and of the tables, as of the turns finished; prepared batches take no
  /// part in it.
  virtual Result<std::unique_ptr<StateSource>> snapshot(std::vector<MemoryTensor> others);
  /// The way back; no batch is prepared or lent.
  virtual Status restore(StateSource& from, std::vector<MemoryTensor> others);

  /// Of tables in memory that are part of a state with others: where they lie.
  void append_to(std::vector<MemoryTensor>& tensors) { append_state(tensors); }

 protected:
  /// Tables that lie in memory say where; then, that they were written over.
  virtual void append_state(std::vector<MemoryTensor>&) {}
  virtual void restored() {}
};

}  // namespace forebay
