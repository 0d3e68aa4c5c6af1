#include "trainer/embedding/scored_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "trainer/embedding/make_tables.h"
#include "trainer/embedding/whole_tables.h"

namespace forebay {
namespace {

constexpr std::size_t kAtOnce = std::size_t{1} << 20;  // Bytes.

/// Tables in memory: a slot is a row.
class WholeRows final : public ScoredRows {
 public:
  explicit WholeRows(TableLayout layout) : ScoredRows(std::move(layout)) {
    for (std::size_t table = 0; table < rows_.size(); ++table) {
      arenas_.push_back(
          {.name = "table." + std::to_string(layout_.feature_of(table)), .slots = rows_[table]});
    }
  }

 private:
  float* place(std::size_t arena, std::size_t slot) override { return row(arena, slot); }
};

}  // namespace

Result<std::unique_ptr<ScoredRows>> ScoredRows::open(const TrainerSpec& spec,
                                                     const ModelShape& shape, StateSource& state) {
  TableLayout layout = layout_of(spec, shape);
  switch (spec.tables.storage) {
    case TrainerSpec::Storage::kHashed:
      return open_hashed_rows(std::move(layout), state);
    case TrainerSpec::Storage::kTiered:
      if (!lies_in_tiers(state)) break;  // The tables of several ranks are whole.
      return open_tiered_rows(std::move(layout), state);
    case TrainerSpec::Storage::kMemory:
      break;
  }
  return std::make_unique<WholeRows>(std::move(layout));
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

Status ScoredRows::begin(StateSource& state, Tables into) {
  into_ = std::move(into);
  return fill(state);
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
  auto read = read_slots(state, index, static_cast<std::size_t>(arena - arenas_.begin()));
  if (!read) return pass(read);
  return true;
}

Status ScoredRows::read_slots(StateSource& state, std::size_t index, std::size_t arena) {
  const std::size_t width = layout_.width;
  const std::size_t row_bytes = width * sizeof(float);
  const std::size_t most = std::max<std::size_t>(kAtOnce / row_bytes, 1);
  const std::size_t slots = arenas_[arena].slots;
  std::vector<float> some(std::min(most, slots) * width);
  for (std::size_t first = 0; first < slots; first += most) {
    const std::size_t count = std::min(most, slots - first);
    const auto bytes = std::as_writable_bytes(std::span(some).first(count * width));
    if (auto read = state.read(index, first * row_bytes, bytes); !read) return read;
    for (std::size_t i = 0; i < count; ++i) {
      float* to = place(arena, first + i);
      if (to != nullptr) std::memcpy(to, some.data() + i * width, row_bytes);
    }
  }
  return {};
}

Status ScoredRows::end() const {
  for (const Arena& arena : arenas_) {
    if (!arena.taken) return fail(Code::kCorrupt, "the checkpoint lacks " + arena.name);
  }
  return {};
}

template <class T>
Result<std::vector<T>> read_metadata_tensor(StateSource& state, const std::string& name,
                                            ElementType type, std::int64_t extent) {
  const auto& tensors = state.tensors();
  const auto found = std::ranges::find_if(tensors, [&](const StateTensor& tensor) {
    return tensor.part == StateTensor::Part::kTables && tensor.name == name;
  });
  if (found == tensors.end()) return fail(Code::kCorrupt, "the checkpoint lacks " + name);
  if (found->type != type || found->shape.size() != 1 ||
      (extent >= 0 && found->shape[0] != extent)) {
    return fail(Code::kCorrupt, name + " has other extents than the model");
  }
  std::vector<T> metadata(static_cast<std::size_t>(found->shape[0]));
  auto read = state.read(static_cast<std::size_t>(found - tensors.begin()), 0,
                         std::as_writable_bytes(std::span(metadata)));
  if (!read) return pass(read);
  return metadata;
}

template Result<std::vector<std::int64_t>> read_metadata_tensor(StateSource&, const std::string&,
                                                                ElementType, std::int64_t);
template Result<std::vector<std::uint64_t>> read_metadata_tensor(StateSource&, const std::string&,
                                                                 ElementType, std::int64_t);
template Result<std::vector<std::uint8_t>> read_metadata_tensor(StateSource&, const std::string&,
                                                                ElementType, std::int64_t);

}  // namespace forebay
