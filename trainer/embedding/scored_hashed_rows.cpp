#include <algorithm>
#include <utility>

#include "trainer/embedding/scored_rows.h"

namespace forebay {
namespace {

/// Slot 0 is the shared row; of the other slots, those whose row was seen have a key.
class HashedRows final : public ScoredRows {
 public:
  explicit HashedRows(TableLayout layout) : ScoredRows(std::move(layout)), places_(tables()) {}

  Status read_metadata(StateSource& state, std::size_t table) {
    const std::string name = "table." + std::to_string(layout_.feature_of(table));
    const std::size_t slots = rows_[table];
    const auto extent = static_cast<std::int64_t>(slots);
    auto keys =
        read_metadata_tensor<std::int64_t>(state, name + ".keys", ElementType::kI64, extent);
    if (!keys) return pass(keys);
    auto seen =
        read_metadata_tensor<std::uint64_t>(state, name + ".seen", ElementType::kU64, extent);
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

 private:
  static constexpr std::int32_t kNobody = -1;

  float* place(std::size_t arena, std::size_t slot) override {
    const std::int32_t number = places_[arena][slot];
    return number == kNobody ? nullptr : row(arena, static_cast<std::size_t>(number));
  }

  std::vector<std::vector<std::int32_t>> places_;  // by table and slot
};

}  // namespace

Result<std::unique_ptr<ScoredRows>> open_hashed_rows(TableLayout layout, StateSource& state) {
  auto rows = std::make_unique<HashedRows>(std::move(layout));
  for (std::size_t table = 0; table < rows->tables(); ++table) {
    if (auto read = rows->read_metadata(state, table); !read) return pass(read);
  }
  return rows;
}

}  // namespace forebay
