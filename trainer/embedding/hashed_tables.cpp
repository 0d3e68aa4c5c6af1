#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/embedding/slot_metadata.h"
#include "trainer/embedding/table_storage.h"

namespace forebay {
namespace {

/// How many times in `evict_after` steps rows are checked for eviction.
constexpr std::uint64_t kLooks = 4;

/// See make_hashed_tables.
class HashedTables final : public TableStorage {
 public:
  HashedTables(const TableLayout& layout, const TrainerSpec::Tables& spec, CopyRoom& room)
      : layout_(layout), spec_(spec) {
    tables_.reserve(layout.rows.size());
    for (std::size_t feature = 0; feature < layout.rows.size(); ++feature) {
      const auto slots = static_cast<std::size_t>(layout.rows[feature]);
      Table& table =
          tables_.emplace_back(Table{RowArena(slots, layout.width, layout.state_width, room),
                                     RowIndex(slots),
                                     FrequencySketch(slots),
                                     layout.values_of(feature),
                                     std::vector<std::int64_t>(slots),
                                     std::vector<std::uint64_t>(slots),
                                     {}});
      table.values.fill(kShared, {table.arena.weights(kShared), layout.width});
    }
    restored();
  }

  std::vector<std::int64_t> folds() const override {
    return std::vector<std::int64_t>(tables_.size(), 0);
  }
  RowArena& arena(std::size_t feature) override { return tables_[feature].arena; }
  bool looks_ahead() const override { return false; }

  Status borrow(BatchRows& rows, Use use) override {
    if (use == Use::kTrain) {
      ++steps_;
      drop_unseen();
    }
    for (std::size_t feature = 0; feature < rows.features(); ++feature) {
      for (std::size_t row = rows.first_row[feature]; row < rows.first_row[feature + 1]; ++row) {
        rows.slots[row] = slot_of(tables_[feature], rows.keys[row], rows.times[row], use);
      }
    }
    share(rows);
    return {};
  }

  std::vector<TableTiers> tiers() const override {
    std::vector<TableTiers> found = empty_tiers(layout_);
    for (std::size_t i = 0; i < found.size(); ++i) found[i].in_memory = tables_[i].index.size() + 1;
    return found;
  }

  void append_to(std::vector<MemoryTensor>& tensors) override {
    const auto append = [&]<class T>(const std::string& name, std::span<T> values) {
      StateTensor tensor = metadata_tensor<T>(name, values.size());
      tensors.push_back({std::move(tensor), std::as_writable_bytes(values), nullptr});
    };
    append("tables.steps", std::span(&steps_, 1));
    for (std::size_t feature = 0; feature < tables_.size(); ++feature) {
      Table& table = tables_[feature];
      const std::string name = layout_.name_of(feature);
      append_arena(table.arena, name, tensors);
      append(name + ".keys", std::span(table.keys));
      append(name + ".seen", std::span(table.seen));
      append(name + ".counts", table.counts.bytes());
    }
  }

 private:
  static constexpr std::int32_t kShared = 0;

  struct Table {
    RowArena arena;
    RowIndex index;
    FrequencySketch counts;
    RowValues values;
    std::vector<std::int64_t> keys;   ///< By slot, of those in use.
    std::vector<std::uint64_t> seen;  ///< By slot: the last step that saw it; 0: not in use.
    std::vector<std::int32_t> free;   ///< Slots, highest first.
  };

  std::int32_t slot_of(Table& table, std::int64_t key, std::int32_t times, Use use) {
    std::int32_t slot = table.index.find(key);
    if (use == Use::kScore) return slot == RowIndex::kNone ? kShared : slot;
    if (slot == RowIndex::kNone) {
      const std::uint32_t seen = table.counts.add(key, static_cast<std::uint32_t>(times));
      if (seen < static_cast<std::uint32_t>(spec_.admit_after) || table.free.empty()) {
        return kShared;
      }
      slot = table.free.back();
      table.free.pop_back();
      admit(table, key, slot);
    }
    table.seen[static_cast<std::size_t>(slot)] = steps_;
    return slot;
  }

  void admit(Table& table, std::int64_t key, std::int32_t slot) {
    const auto at = static_cast<std::size_t>(slot);
    table.arena.before_refill({&slot, 1});
    table.values.fill(key, {table.arena.weights(at), layout_.width});
    std::fill_n(table.arena.state(at), layout_.state_width, 0.0f);
    table.index.put(key, slot);
    table.keys[at] = key;
  }

  void drop_unseen() {
    if (spec_.evict_after == 0) return;
    if (steps_ % std::max<std::uint64_t>(spec_.evict_after / kLooks, 1) != 0) return;
    for (Table& table : tables_) {
      for (std::size_t slot = 1; slot < table.seen.size(); ++slot) {
        if (table.seen[slot] == 0 || table.seen[slot] + spec_.evict_after > steps_) continue;
        table.index.erase(static_cast<std::int32_t>(slot));
        table.seen[slot] = 0;
        table.free.push_back(static_cast<std::int32_t>(slot));
      }
      // In the order of restored(), the lowest slot last: slots must not depend on the history.
      std::ranges::sort(table.free, std::greater());
      table.counts.halve();
    }
  }

  /// Merges all rows that map to the shared row into one, so that sums by row run over all their
  /// ids.
  void share(BatchRows& rows) {
    BatchRows& out = shared_;
    out.keys.clear();
    out.times.clear();
    out.slots.clear();
    out.first_row.assign(1, 0);
    for (std::size_t feature = 0; feature < rows.features(); ++feature) {
      const std::size_t first = rows.first_row[feature];
      const std::size_t end = rows.first_row[feature + 1];
      const std::size_t out_first = out.slots.size();
      std::int32_t shared = RowIndex::kNone;
      new_place_.clear();
      for (std::size_t row = first; row < end; ++row) {
        const bool again = rows.slots[row] == kShared && shared != RowIndex::kNone;
        new_place_.push_back(again ? shared
                                   : static_cast<std::int32_t>(out.slots.size() - out_first));
        if (again) {
          out.times[out_first + static_cast<std::size_t>(shared)] += rows.times[row];
          continue;
        }
        if (rows.slots[row] == kShared) shared = new_place_.back();
        out.keys.push_back(rows.keys[row]);
        out.times.push_back(rows.times[row]);
        out.slots.push_back(rows.slots[row]);
      }
      out.first_row.push_back(out.slots.size());
      for (std::size_t id = rows.first_id[feature]; id < rows.first_id[feature + 1]; ++id) {
        rows.place[id] = new_place_[static_cast<std::size_t>(rows.place[id])];
      }
    }
    std::swap(rows.keys, out.keys);
    std::swap(rows.times, out.times);
    std::swap(rows.slots, out.slots);
    std::swap(rows.first_row, out.first_row);
  }

  void restored() override {
    for (Table& table : tables_) {
      table.index = RowIndex(table.seen.size());
      table.free.clear();
      for (std::size_t slot = table.seen.size(); slot-- > 1;) {
        const auto number = static_cast<std::int32_t>(slot);
        if (table.seen[slot] == 0) {
          table.free.push_back(number);
        } else {
          table.index.put(table.keys[slot], number);
        }
      }
    }
  }

  const TableLayout layout_;
  const TrainerSpec::Tables spec_;
  std::vector<Table> tables_;
  std::uint64_t steps_ = 0;

  // Temporaries of one call, kept to reuse their memory.
  std::vector<std::int32_t> new_place_;
  BatchRows shared_;
};

}  // namespace

std::unique_ptr<TableStorage> make_hashed_tables(const TableLayout& layout,
                                                 const TrainerSpec::Tables& spec, CopyRoom& room) {
  return std::make_unique<HashedTables>(layout, spec, room);
}

}  // namespace forebay
