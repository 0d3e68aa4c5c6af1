#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/result.h"
#include "trainer/embedding/batch_rows.h"
#include "trainer/embedding/pages.h"
#include "trainer/spec.h"
#include "trainer/state/snapshot.h"
#include "trainer/table_tiers.h"

namespace forebay {

/// The first values of a table's rows: uniform within ±1/√rows (Naumov et al. 2019), a function of
/// (seed, feature, key) alone, so that a row is the same wherever and whenever it is first needed.
/// Values after the first `dim` begin at 0.
class RowValues {
 public:
  RowValues(std::uint64_t seed, std::size_t feature, std::int64_t rows, std::size_t dim)
      : seed_(mix64(seed, feature)),
        bound_(static_cast<float>(1 / std::sqrt(static_cast<double>(rows)))),
        dim_(dim) {}

  void fill(std::int64_t key, std::span<float> weights) const {
    std::uint64_t at = mix64(seed_, static_cast<std::uint64_t>(key));
    for (std::size_t i = 0; i < dim_; i += 2, at += 0x9e3779b97f4a7c15ULL) {
      const std::uint64_t bits = mix64(at);
      weights[i] = within(static_cast<std::uint32_t>(bits));
      if (i + 1 < dim_) weights[i + 1] = within(static_cast<std::uint32_t>(bits >> 32));
    }
    for (std::size_t i = dim_; i < weights.size(); ++i) weights[i] = 0;
  }

 private:
  /// Uniform in 24 bits, exact in a float, symmetric about 0.
  float within(std::uint32_t bits) const {
    const auto steps = static_cast<std::int32_t>(bits >> 8);
    return static_cast<float>(2 * steps + 1 - (1 << 24)) * (0x1.0p-24f * bound_);
  }

  std::uint64_t seed_;
  float bound_;
  std::size_t dim_;
};

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

  /// How many rows of each table are where, prepared batches included.
  virtual std::vector<TableTiers> tiers() const = 0;

  /// Takes a snapshot of `others` and of the tables, as of the finished turns, without effects of
  /// prepared batches.
  virtual Result<std::unique_ptr<StateSource>> snapshot(std::vector<MemoryTensor> others) {
    append_to(others);
    return snapshot_of_memory(std::move(others));
  }
  /// Restores a snapshot. Requires that no batch is prepared or borrowed for.
  virtual Status restore(StateSource& from, std::vector<MemoryTensor> others);

  /// For tables in memory: appends their tensors, which may be part of a larger state.
  virtual void append_to(std::vector<MemoryTensor>&) {}

 protected:
  /// For tables in memory: called after those tensors were overwritten.
  virtual void restored() {}
};

/// Returns a TableTiers for each table, without any rows in a tier.
std::vector<TableTiers> empty_tiers(const TableLayout& layout);

/// Returns the layout of the tables of `spec`.
TableLayout layout_of(const TrainerSpec& spec, const ModelShape& shape);

/// Makes the storage of `spec.tables`, with its first values; `room` outlives it. Fails if a folder
/// cannot be used.
Result<std::unique_ptr<TableStorage>> make_tables(const TrainerSpec& spec, const ModelShape& shape,
                                                  CopyRoom& room);

/// Checks that tiered tables have memory for the rows that batches with at most `ids` name: one
/// batch to train on and one to score. The error states the sizes.
Status check_tables(const TrainerSpec& spec, const ModelShape& shape, const MostIds& ids);

/// `storage = "memory"`: every row of every table is in memory; a slot is a row. The tables begin
/// with their first values. `folder` is made and removed when tables are restored from a tiered
/// state.
std::unique_ptr<TableStorage> make_memory_tables(const TableLayout& layout, CopyRoom& room,
                                                 const std::string& folder = "");

/// `storage = "hashed"`: an id gets a row of its own once it was seen `admit_after` times, the
/// current batch included (counted by a sketch: never later, and earlier if ids collide in it).
/// Before that, and if a table is full, ids share its first row, which is trained like any other.
/// A table has at most `layout.rows` rows, including the shared one.
///
/// A row whose id was not seen for `evict_after` steps is dropped at the next step whose number is
/// a multiple of a quarter of that; counts are halved then, so that rarely seen ids never
/// accumulate. All of this depends on the ids and steps alone. Because these slot metadata are part
/// of the tables' state, rows get their slots in the step; only the rows that a batch names are
/// found ahead of it.
std::unique_ptr<TableStorage> make_hashed_tables(const TableLayout& layout,
                                                 const TrainerSpec::Tables& spec, CopyRoom& room);

/// `storage = "tiered"`: rows that batches need, and those seen most often, are in one arena for
/// all tables; the rest is on the disk.
///
/// A row is given a slot when a batch needs it: it is read from the disk if it was ever written
/// there, otherwise made with its first values. Evicts the row seen least often among a sample of
/// the rows that are not held by a batch. A trained row is appended to the log when it is evicted,
/// before any row is read for a later batch, so a read never returns stale values. Rows are read
/// while the next batch is prepared.
///
/// Uses `spec.memory_bytes` for everything: rows, their index, the log; empties `spec.folder`.
/// Restores a linked snapshot, or whole tables.
Result<std::unique_ptr<TableStorage>> make_tiered_tables(const TableLayout& layout,
                                                         const TrainerSpec::Tables& spec,
                                                         CopyRoom& room);

/// Bytes of tiered tables with so many rows in memory, and with a snapshot; grows with the rows.
std::uint64_t tiered_bytes(const TableLayout& layout, std::uint64_t slots,
                           TrainerSpec::Tables::Snapshot snapshot);

/// Number of rows that fit `memory_bytes` of tiered tables; 0: not even the index fits.
std::uint64_t tiered_slots(
    const TableLayout& layout, std::uint64_t memory_bytes,
    TrainerSpec::Tables::Snapshot snapshot = TrainerSpec::Tables::Snapshot::kLinked);

}  // namespace forebay
