#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "core/store/rows/row_log.h"
#include "trainer/embedding/row_values.h"
#include "trainer/embedding/scored_rows.h"

namespace forebay {
namespace {

/// A row is its first values, overwritten by the row on the disk if it was written there,
/// overwritten by the row in memory if it was trained since. Rows are numbered over all tables.
class TieredRows final : public ScoredRows {
 public:
  explicit TieredRows(TableLayout layout) : ScoredRows(std::move(layout)) {
    first_.reserve(tables());
    for (std::size_t table = 0; table < tables(); ++table) {
      first_.push_back(all_);
      all_ += rows_[table];
    }
  }

  Status read_metadata(StateSource& state) {
    auto numbers = read_metadata_tensor<std::int64_t>(state, "tables.keys", ElementType::kI64, -1);
    if (!numbers) return pass(numbers);
    numbers_ = std::move(*numbers);
    for (const std::int64_t number : numbers_) {
      if (number != kNobody && !has(static_cast<std::uint64_t>(number))) return names_other_row();
    }
    const auto extent = static_cast<std::int64_t>(all_ / 8 + 1);
    auto written =
        read_metadata_tensor<std::uint8_t>(state, "tables.written", ElementType::kU8, extent);
    if (!written) return pass(written);
    for (const std::uint8_t byte : *written) {
      written_ += static_cast<std::uint64_t>(std::popcount(byte));
    }
    arenas_.push_back({.name = "tables.rows", .slots = numbers_.size()});
    return {};
  }

 private:
  static constexpr std::int64_t kNobody = -1;

  Status fill(StateSource& state) override {
    for (std::size_t table = 0; table < tables(); ++table) {
      const RowValues values(layout_.seed, layout_.feature_of(table), layout_.rows[table],
                             layout_.dim);
      for (std::size_t key = 0; key < rows_[table]; ++key) {
        values.fill(static_cast<std::int64_t>(key), {row(table, key), layout_.width});
      }
    }
    auto folder = state.files_folder();
    if (!folder) return pass(folder);
    std::uint64_t found = 0;
    const auto take = [&](std::uint64_t number, std::span<const std::byte> values) -> Status {
      if (!has(number)) return names_other_row();
      std::memcpy(row_of(number), values.data(), layout_.width * sizeof(float));
      ++found;
      return {};
    };
    if (!folder->empty()) {
      const RowLog::Options options{.row_bytes = layout_.row_bytes(), .most_rows = all_};
      if (auto read = RowLog::scan(*folder, options, take); !read) return read;
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

  bool has(std::uint64_t number) const { return number < all_; }
  static Status names_other_row() {
    return fail(Code::kCorrupt, "the checkpoint's tables name a row that they have not");
  }
  float* row_of(std::uint64_t number) const {
    const auto next = std::ranges::upper_bound(first_, number);
    const auto table = static_cast<std::size_t>(next - first_.begin()) - 1;
    return row(table, number - first_[table]);
  }

  std::vector<std::uint64_t> first_;   // number of each table's first row
  std::uint64_t all_ = 0;              // rows
  std::vector<std::int64_t> numbers_;  // by slot
  std::uint64_t written_ = 0;          // rows that are on the disk
};

}  // namespace

Result<std::unique_ptr<ScoredRows>> open_tiered_rows(TableLayout layout, StateSource& state) {
  auto rows = std::make_unique<TieredRows>(std::move(layout));
  if (auto read = rows->read_metadata(state); !read) return pass(read);
  return rows;
}

}  // namespace forebay
