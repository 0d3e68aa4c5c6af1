#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/transform/op_table.h"
#include "core/base/random.h"

namespace forebay {
namespace {

/// Runs `kernel(kernels, ids, count)` over all ids of sparse columns, in place or on a copy; lists
/// keep their lengths. Records `bound` for the columns that it produces.
template <class Kernel>
Steps id_steps(OpInput& input, std::int64_t bound, double cost, const Kernel& kernel) {
  const Targets targets = input.columns.same_kind({}, input.columns.sparse());
  for (const ColumnTarget& target : targets.sparse) {
    input.columns.schema().sparse[target.to].bound = bound;
  }
  Steps steps;
  add_value_steps<std::int64_t>(steps, targets.sparse, kernel, cost);
  return steps;
}

Steps make_sigrid_hash(OpInput& input) {
  const auto salt = static_cast<std::uint64_t>(input.params.integer_or("salt", 0));
  const std::int64_t max_value = input.params.integer("max_value", {.low = 1});
  const FloorMod modulus = FloorMod::by(max_value < 1 ? 1 : max_value);
  return id_steps(input, max_value, 2,
                  [=](const Kernels& kernels, std::int64_t* ids, std::size_t count) {
                    kernels.sigrid_hash(ids, count, salt, modulus);
                  });
}

Steps make_positive_modulus(OpInput& input) {
  const std::int64_t divisor = input.params.integer("modulus", {.low = 1});
  const FloorMod modulus = FloorMod::by(divisor < 1 ? 1 : divisor);
  return id_steps(input, divisor, 1,
                  [=](const Kernels& kernels, std::int64_t* ids, std::size_t count) {
                    kernels.floor_mod(ids, count, modulus);
                  });
}

/// A fixed map from id to id: open addressing at a load of at most a half. Immutable once filled.
class MapTable {
 public:
  explicit MapTable(std::size_t entries)
      : slots_(std::bit_ceil(2 * entries + 2)), mask_(slots_.size() - 1) {}

  /// Returns false if the key is present already.
  bool add(std::int64_t key, std::int64_t value) {
    Slot& slot = slots_[find(key)];
    if (slot.used) return false;
    slot = {key, value, true};
    return true;
  }

  std::int64_t value_or(std::int64_t key, std::int64_t otherwise) const {
    const Slot& slot = slots_[find(key)];
    return slot.used ? slot.value : otherwise;
  }

 private:
  struct Slot {
    std::int64_t key = 0;
    std::int64_t value = 0;
    bool used = false;
  };

  /// The key's slot, or the free slot that the key would take.
  std::size_t find(std::int64_t key) const {
    std::size_t at = mix64(static_cast<std::uint64_t>(key)) & mask_;
    while (slots_[at].used && slots_[at].key != key) at = (at + 1) & mask_;
    return at;
  }

  std::vector<Slot> slots_;
  std::size_t mask_;
};

Steps make_map_id(OpInput& input) {
  const std::vector<std::int64_t> keys = input.params.integers("keys");
  const std::vector<std::int64_t> values = input.params.integers("values");
  const std::int64_t otherwise = input.params.integer_or("default", 0);
  if (keys.size() != values.size()) {
    input.params.refuse("values", "must be as many as the keys: " + std::to_string(keys.size()) +
                                      ", not " + std::to_string(values.size()));
    return {};
  }
  auto table = std::make_shared<MapTable>(keys.size());
  IdRange range{otherwise, otherwise};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!table->add(keys[i], values[i])) {
      input.params.refuse("keys", "has " + std::to_string(keys[i]) + " twice");
    }
    range = {std::min(range.low, values[i]), std::max(range.high, values[i])};
  }
  const std::shared_ptr<const MapTable> map = table;
  return id_steps(input, range.bound(), 5,
                  [map, otherwise](const Kernels&, std::int64_t* ids, std::size_t count) {
                    for (std::size_t i = 0; i < count; ++i)
                      ids[i] = map->value_or(ids[i], otherwise);
                  });
}

}  // namespace

std::vector<OpEntry> id_ops() {
  return {
      {{"sigrid_hash", "sparse", "sparse", "max_value (>= 1), salt = 0",
        "hash of each id into [0, max_value)", "an empty list stays empty"},
       {"max_value", "salt", "output"},
       make_sigrid_hash},
      {{"positive_modulus", "sparse", "sparse", "modulus (>= 1)",
        "each id modulo `modulus`, never negative", "an empty list stays empty"},
       {"modulus", "output"},
       make_positive_modulus},
      {{"map_id", "sparse", "sparse", "keys, values, default = 0",
        "each id that is keys[i] becomes values[i], any other `default`",
        "an empty list stays empty"},
       {"keys", "values", "default", "output"},
       make_map_id},
  };
}

}  // namespace forebay
