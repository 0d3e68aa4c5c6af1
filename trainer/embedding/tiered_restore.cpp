#include <algorithm>
#include <cstring>
#include <utility>

#include "trainer/embedding/tiered_tables.h"

namespace forebay {
namespace {

using Part = StateTensor::Part;

constexpr std::size_t kRowsAtOnce = 4096;

bool same_bits(std::span<const float> a, const float* b) {
  return std::memcmp(a.data(), b, a.size_bytes()) == 0;
}

}  // namespace

// Rows that still have their first values need not be written: they can be made again.
Status TieredTables::restore_whole(StateSource& from, const std::vector<MemoryTensor>& others) {
  std::vector<StateTensor> wanted = tensors_of(others);
  const std::size_t first = wanted.size();
  const std::size_t tables = layout_.rows.size();
  for (const Part part : {Part::kWeights, Part::kOptimizer}) {
    if (part == Part::kOptimizer && layout_.state_width == 0) break;
    for (std::size_t table = 0; table < tables; ++table) {
      wanted.push_back(layout_.tensor_of(table, part));
    }
  }
  if (auto same = check_tensors(wanted, from.tensors()); !same) return same;
  (void)fetcher_.drain();
  arena_.clear();
  broken_ = fail(Code::kUnavailable, "the tables were to be restored and could not be");
  if (auto opened = open_disk(""); !opened) return opened;
  std::ranges::fill(written_, std::uint8_t{0});
  hold_nothing();
  for (std::size_t index = 0; index < from.tensors().size(); ++index) {
    const auto place =
        static_cast<std::size_t>(std::ranges::find(wanted, from.tensors()[index]) - wanted.begin());
    auto read = place < first ? from.read(index, 0, others[place].memory)
                              : read_whole(from, index, (place - first) % tables);
    if (!read) return read;
  }
  broken_ = {};
  return {};
}

Status TieredTables::read_whole(StateSource& from, std::size_t index, std::size_t table) {
  const StateTensor& tensor = from.tensors()[index];
  const auto width = static_cast<std::size_t>(tensor.shape[1]);
  const auto rows = static_cast<std::size_t>(tensor.shape[0]);
  std::vector<float> values(std::min(rows, kRowsAtOnce) * width);
  for (std::size_t first = 0; first < rows; first += kRowsAtOnce) {
    const auto some = std::span(values).first(std::min(kRowsAtOnce, rows - first) * width);
    const auto bytes = std::as_writable_bytes(some);
    auto done = from.read(index, first * width * sizeof(float), bytes);
    if (done) done = write_whole(table, first_number_[table] + first, some, tensor.part);
    if (!done) return done;
  }
  return {};
}

/// Writes the rows from number `first` on: their weights, or, if the weights were written, their
/// state.
Status TieredTables::write_whole(std::size_t table, std::uint64_t first,
                                 std::span<const float> values, Part part) {
  const std::size_t width = layout_.width;
  const std::size_t all = width + layout_.state_width;
  const bool weights = part == Part::kWeights;
  const std::size_t own = weights ? width : layout_.state_width;
  std::vector<std::uint64_t> numbers, known;
  std::vector<float> rows, made(all);
  std::vector<std::size_t> places;  // indices in `rows` of known rows
  for (std::size_t i = 0; i * own < values.size(); ++i) {
    const std::uint64_t number = first + i;
    const std::span<const float> row = values.subspan(i * own, own);
    const auto key = static_cast<std::int64_t>(number - first_number_[table]);
    values_[table].fill(layout_.first_of(table) + key, std::span(made).first(width));
    if (same_bits(row, weights ? made.data() : made.data() + width)) continue;
    if (was_written(number)) {
      known.push_back(number);
      places.push_back(rows.size());
    }
    rows.insert(rows.end(), made.begin(), made.end());
    std::ranges::copy(row, rows.end() - static_cast<std::ptrdiff_t>(weights ? all : own));
    numbers.push_back(number);
  }
  auto read = disk_->read(known, [&](std::size_t place, std::span<const std::byte> row) {
    std::memcpy(rows.data() + places[place], row.data(), width * sizeof(float));
  });
  if (!read) return read;
  for (const std::uint64_t number : numbers) {
    written_[number / 8] |= static_cast<std::uint8_t>(1U << (number % 8));
  }
  return disk_->write(numbers, [&](std::size_t place, std::span<std::byte> row) {
    std::memcpy(row.data(), rows.data() + place * all, row.size());
  });
}

}  // namespace forebay
