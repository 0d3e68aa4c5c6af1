#include "trainer/embedding/scored_rows.h"

#include <bit>
#include <cstring>

#include "trainer/embedding/tiered/tiered_state.h"

namespace forebay {

namespace {

/// Tables in memory: a slot is a row.
class WholeRows final : public ScoredRows {
 public:
  explicit WholeRows(TableLayout layout) : ScoredRows(std::move(layout)) {
    for (std::size_t table = 0; table < rows_.size(); ++table) {
      arenas_.push_back({.name = layout_.name_of(table), .slots = rows_[table]});
    }
  }

 private:
  float* place(std::size_t arena, std::size_t slot) override { return row(arena, slot); }
};

/// Slot 0 is the shared row; of the other slots, those whose row was seen have a key.
class HashedRows final : public ScoredRows {
 public:
  explicit HashedRows(TableLayout layout) : ScoredRows(std::move(layout)), places_(tables()) {}

 private:
  static constexpr std::int32_t kNobody = -1;

  Status read_metadata(StateSource& state) override {
    for (std::size_t table = 0; table < tables(); ++table) {
      if (auto read = read_table(state, table); !read) return read;
    }
    return {};
  }

  Status read_table(StateSource& state, std::size_t table) {
    const std::string name = layout_.name_of(table);
    const std::size_t slots = rows_[table];
    const auto extent = static_cast<std::int64_t>(slots);
    auto keys = read_metadata_tensor<std::int64_t>(state, name + ".keys", extent);
    if (!keys) return pass(keys);
    auto seen = read_metadata_tensor<std::uint64_t>(state, name + ".seen", extent);
    if (!seen) return pass(seen);
    std::vector<std::pair<std::int64_t, std::int32_t>> used;
    for (std::size_t slot = 1; slot < slots; ++slot) {
      if ((*seen)[slot] > 0) used.emplace_back((*keys)[slot], static_cast<std::int32_t>(slot));
    }
    std::ranges::sort(used);
    places_[table].assign(slots, kNobody);
    places_[table][0] = 0;
    keys_[table].reserve(used.size());
    for (const auto& [key, slot] : used) {
      keys_[table].push_back(key);
      places_[table][static_cast<std::size_t>(slot)] =
          static_cast<std::int32_t>(keys_[table].size());
    }
    arenas_.push_back({.name = name, .slots = slots});
    rows_[table] = 1 + used.size();
    return {};
  }

  float* place(std::size_t arena, std::size_t slot) override {
    const std::int32_t number = places_[arena][slot];
    return number == kNobody ? nullptr : row(arena, static_cast<std::size_t>(number));
  }

  std::vector<std::vector<std::int32_t>> places_;  // by table and slot
};

/// A row is its first values, overwritten by the row on the disk if it was written there,
/// overwritten by the row in memory if it was trained since. Rows are numbered over all tables.
class TieredRows final : public ScoredRows {
 public:
  explicit TieredRows(TableLayout layout)
      : ScoredRows(std::move(layout)), disk_(layout_, /*folder=*/"") {}

 private:
  static constexpr std::int64_t kNobody = -1;

  Status read_metadata(StateSource& state) override {
    auto numbers = read_metadata_tensor<std::int64_t>(state, kTierKeys, -1);
    if (!numbers) return pass(numbers);
    numbers_ = std::move(*numbers);
    for (const std::int64_t number : numbers_) {
      if (number != kNobody && !disk_.has(number)) return names_other_row();
    }
    const auto extent = static_cast<std::int64_t>(disk_.written_bytes());
    auto written = read_metadata_tensor<std::uint8_t>(state, kTierWritten, extent);
    if (!written) return pass(written);
    for (const std::uint8_t byte : *written) {
      written_ += static_cast<std::uint64_t>(std::popcount(byte));
    }
    arenas_.push_back({.name = kTierRows, .slots = numbers_.size()});
    return {};
  }

  Status fill(StateSource& state) override {
    for (std::size_t table = 0; table < tables(); ++table) {
      for (std::size_t key = 0; key < rows_[table]; ++key) {
        disk_.fill_first(table, disk_.first_of(table) + key, {row(table, key), layout_.width});
      }
    }
    auto folder = state.files_folder();
    if (!folder) return pass(folder);
    std::uint64_t found = 0;
    const auto take = [&](std::uint64_t number, std::span<const std::byte> values) -> Status {
      if (number >= disk_.rows()) return names_other_row();
      std::memcpy(row_of(number), values.data(), layout_.width * sizeof(float));
      ++found;
      return {};
    };
    if (!folder->empty()) {
      auto read = RowLog::scan(*folder, DiskRows::options(layout_), take);
      if (!read) return read;
    }
    if (found == written_) return {};
    return fail(Code::kCorrupt, "the checkpoint's tables have lost " +
                                    std::to_string(written_ - std::min(found, written_)) + " of " +
                                    std::to_string(written_) + " rows on the disk");
  }

  float* place(std::size_t, std::size_t slot) override {
    const std::int64_t number = numbers_[slot];
    return number == kNobody ? nullptr : row_of(static_cast<std::uint64_t>(number));
  }

  static Status names_other_row() {
    return fail(Code::kCorrupt, "the checkpoint's tables name a row that they have not");
  }
  float* row_of(std::uint64_t number) const {
    const std::size_t table = disk_.table_of(number);
    return row(table, number - disk_.first_of(table));
  }

  const DiskRows disk_;                // numbers the rows; is never opened
  std::vector<std::int64_t> numbers_;  // by slot
  std::uint64_t written_ = 0;          // rows that are on the disk
};

}  // namespace

Result<std::unique_ptr<ScoredRows>> ScoredRows::open(const TrainerSpec& spec,
                                                     const ModelShape& shape, StateSource& state) {
  TableLayout layout = layout_of(spec, shape);
  std::unique_ptr<ScoredRows> rows;
  if (spec.tables.storage == TrainerSpec::Storage::kHashed) {
    rows = std::make_unique<HashedRows>(std::move(layout));
  } else if (spec.tables.storage == TrainerSpec::Storage::kTiered && lies_in_tiers(state)) {
    rows = std::make_unique<TieredRows>(std::move(layout));
  } else {
    // The tiered tables of several ranks are whole, too.
    rows = std::make_unique<WholeRows>(std::move(layout));
  }
  if (auto read = rows->read_metadata(state); !read) return pass(read);
  return rows;
}

ScoredRows::ScoredRows(TableLayout layout) : layout_(std::move(layout)) {
  rows_.reserve(layout_.rows.size());
  for (const std::int64_t rows : layout_.rows) rows_.push_back(static_cast<std::size_t>(rows));
  keys_.resize(rows_.size());
}

std::uint64_t ScoredRows::bytes() const {
  std::uint64_t bytes = 0;
  for (std::size_t table = 0; table < tables(); ++table) {
    bytes += rows_[table] * layout_.width * sizeof(float);
    bytes += keys_[table].size() * sizeof(std::int64_t);
  }
  return bytes;
}

Result<bool> ScoredRows::take(StateSource& state, std::size_t index) {
  const StateTensor& tensor = state.tensors()[index];
  const auto arena = std::ranges::find(arenas_, tensor.name, &Arena::name);
  if (arena == arenas_.end()) return false;
  const std::vector<std::int64_t> wanted = {static_cast<std::int64_t>(arena->slots),
                                            static_cast<std::int64_t>(layout_.width)};
  if (tensor.type != ElementType::kF32 || tensor.shape != wanted) {
    return fail(Code::kCorrupt, tensor.name + " has other extents than the model");
  }
  arena->taken = true;
  const auto number = static_cast<std::size_t>(arena - arenas_.begin());
  auto read = read_rows(state, index, [&](std::size_t slot, std::span<const float> values) {
    for (; !values.empty(); values = values.subspan(layout_.width), ++slot) {
      if (float* to = place(number, slot)) std::copy_n(values.data(), layout_.width, to);
    }
    return Status();
  });
  if (!read) return pass(read);
  return true;
}

Status ScoredRows::end() const {
  for (const Arena& arena : arenas_) {
    if (!arena.taken) return fail(Code::kCorrupt, "the checkpoint lacks " + arena.name);
  }
  return {};
}

}  // namespace forebay
