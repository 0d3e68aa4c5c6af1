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
#include "trainer/state/memory_source.h"

namespace forebay {

/// The layout of tables: a row has `width` weights, of which `dim` begin at random and the rest at
/// 0, and `state_width` values of optimizer state, which begin at 0.
struct TableLayout {
  std::vector<std::int64_t> rows;  ///< Per table.
  std::vector<std::size_t> features =
      {};  ///< The model's feature of each table; empty: all features, in order.
  /// For parts of tables: the first row's number in the whole table, and the rows of the whole.
  /// Empty: the tables are whole.
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
  /// Name of a table's tensors: "table.3", and "table.3.from.100" for a part from row 100 on.
  std::string name_of(std::size_t table) const;
  /// The rows of a table, or a part of one, as a tensor.
  StateTensor tensor_of(std::size_t table, StateTensor::Part part) const;
  /// First values of a table's rows, by a row's number in the whole table.
  RowValues values_of(std::size_t table) const {
    return {seed, feature_of(table), whole_of(table), dim};
  }
  std::uint64_t row_bytes() const { return (width + state_width) * sizeof(float); }
};

/// Assigns slots to the rows of the tables. A row's values depend only on the ids and steps so far;
/// a storage decides where rows are stored, and which ids have rows of their own.
///
/// Batches to be trained on have turns, ascending by one from 1: prepare(1), prepare(2), …, each
/// finished after its step; other batches are borrowed for and given back, one at a time. Calls
/// must not overlap, except those of arenas: a slot belongs to its batches until they are finished
/// or given back, and the model may use it meanwhile.
class TableStorage {
 public:
  enum class Use : std::uint8_t {
    kTrain,
    kScore,  ///< Does not count ids, admit rows or change rows.
  };

  virtual ~TableStorage() = default;

  /// The modulus by which each table folds ids into keys; 0: keys are ids.
  virtual std::vector<std::int64_t> folds() const = 0;

  /// The arena of a feature; features may share one.
  virtual RowArena& arena(std::size_t feature) = 0;

  /// Whether a batch may be prepared before earlier batches were stepped on; otherwise each is
  /// prepared at the begin of its step.
  virtual bool looks_ahead() const = 0;

  /// Assigns a slot to each row of a batch, until `turn` is finished; the row's values are in the
  /// slot after await(turn). kOverloaded: try again after an earlier turn is finished. Any other
  /// error is permanent: the tables are lost.
  virtual Status prepare(BatchRows& rows, std::uint64_t) { return borrow(rows, Use::kTrain); }
  /// Blocks until the rows of a prepared turn are in their slots. Like awaited(), may be called by
  /// any thread at any time.
  virtual Status await(std::uint64_t) { return {}; }
  /// Number of ids of that turn whose rows are not in their slots yet.
  virtual std::uint64_t awaited(std::uint64_t) const { return 0; }
  /// Ends turns up to this one: they were stepped on or are cancelled.
  virtual void finish(std::uint64_t) {}

  /// Assigns slots to the rows of a batch out of turn, and waits for their values.
  virtual Status borrow(BatchRows& rows, Use use) = 0;
  virtual void give_back(const BatchRows&) {}

  /// Takes a snapshot of `others` and of the tables, as of the finished turns, without effects of
  /// prepared batches.
  virtual Result<std::unique_ptr<StateSource>> snapshot(std::vector<MemoryTensor> others);
  /// Restores a snapshot. Requires that no batch is prepared or borrowed for.
  virtual Status restore(StateSource& from, std::vector<MemoryTensor> others);

  /// For tables in memory that are part of a larger state: appends their tensors.
  void append_to(std::vector<MemoryTensor>& tensors) { append_state(tensors); }

 protected:
  /// For tables in memory: appends their tensors; the second is called after they were overwritten.
  virtual void append_state(std::vector<MemoryTensor>&) {}
  virtual void restored() {}
};

}  // namespace forebay
