#include "trainer/embedding/tiered/tiered_state.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <utility>

#include "core/base/open_files.h"
#include "trainer/saving/durable_file.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

using Part = StateTensor::Part;

constexpr std::int64_t kNobody = -1;

/// Tensors of the rows of `slots` slots.
std::vector<StateTensor> rows_tensors(const TableLayout& layout, std::size_t slots) {
  std::vector<StateTensor> tensors;
  for (const Part part : {Part::kWeights, Part::kOptimizer}) {
    const std::size_t width = part == Part::kWeights ? layout.width : layout.state_width;
    if (width == 0) break;
    StateTensor tensor{.name = kTierRows, .part = part};
    tensor.shape = {static_cast<std::int64_t>(slots), static_cast<std::int64_t>(width)};
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

/// The location of each row, as of the snapshot.
struct SlotMetadata {
  std::vector<std::int64_t> keys;     ///< By slot.
  std::vector<std::uint8_t> written;  ///< A bit a row.
};

/// Snapshot of the rows in memory, and a folder of links to the files on the disk, which the
/// destructor removes.
class TieredSource final : public StateSource {
 public:
  TieredSource(std::unique_ptr<StateSource> memory, SlotMetadata metadata, std::string folder)
      : memory_(std::move(memory)),
        metadata_(std::move(metadata)),
        folder_(std::move(folder)),
        tensors_(memory_->tensors()) {
    tensors_.push_back(metadata_tensor<std::int64_t>(kTierKeys, metadata_.keys.size()));
    tensors_.push_back(metadata_tensor<std::uint8_t>(kTierWritten, metadata_.written.size()));
  }
  ~TieredSource() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  TieredSource(const TieredSource&) = delete;
  TieredSource& operator=(const TieredSource&) = delete;

  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override {
    const std::size_t others = memory_->tensors().size();
    if (index < others) return memory_->read(index, offset, to);
    const auto metadata = index == others ? std::as_bytes(std::span(metadata_.keys))
                                          : std::as_bytes(std::span(metadata_.written));
    std::ranges::copy(metadata.subspan(offset, to.size()), to.begin());
    return {};
  }

  Status link_files(const std::string& folder) override {
    std::error_code error;
    fs::create_directories(folder, error);
    for (fs::directory_iterator file = open_folder(folder_, error), end; !error && file != end;
         file.increment(error)) {
      const fs::path to = fs::path(folder) / file->path().filename();
      std::error_code refused;
      fs::create_hard_link(file->path(), to, refused);
      if (!refused) continue;
      if (auto copied = copy_whole(file->path().string(), to.string()); !copied) return copied;
    }
    if (!error) return {};
    return fail(Code::kUnavailable, "the tables' files in " + folder_ + " cannot be listed for " +
                                        folder + " (" + error.message() + ")");
  }

  Result<std::string> files_folder() override { return folder_; }

 private:
  const std::unique_ptr<StateSource> memory_;
  const SlotMetadata metadata_;
  const std::string folder_;
  std::vector<StateTensor> tensors_;
};

/// The tensors of tables in memory: the weights of each table, then the state of each.
std::vector<StateTensor> whole_tensors(const TableLayout& layout) {
  std::vector<StateTensor> tensors;
  for (const Part part : {Part::kWeights, Part::kOptimizer}) {
    if (part == Part::kOptimizer && layout.state_width == 0) break;
    for (std::size_t table = 0; table < layout.rows.size(); ++table) {
      tensors.push_back(layout.tensor_of(table, part));
    }
  }
  return tensors;
}

/// The number of slots of a linked snapshot.
std::size_t slots_of(const StateSource& from) {
  std::size_t slots = 0;
  for (const StateTensor& tensor : from.tensors()) {
    if (tensor.name == kTierKeys && tensor.shape.size() == 1 && tensor.shape[0] >= 0) {
      slots = static_cast<std::size_t>(tensor.shape[0]);
    }
  }
  return slots;
}

/// See restore_tiers.
class TieredRestore {
 public:
  TieredRestore(const TableLayout& layout, ResidentRows& rows, DiskRows& disk, StateSource& from,
                const std::vector<MemoryTensor>& others)
      : layout_(layout),
        rows_(rows),
        disk_(disk),
        from_(from),
        others_(others),
        slots_(slots_of(from)) {}

  Status run() {
    rows_.clear();
    return lies_in_tiers(from_) ? restore_linked() : restore_whole();
  }

 private:
  /// Reads a tensor that is not of the tables; returns false for another tensor.
  Result<bool> read_other(std::size_t index) {
    const auto other = std::ranges::find(others_, from_.tensors()[index], &MemoryTensor::tensor);
    if (other == others_.end()) return false;
    if (auto read = from_.read(index, 0, other->memory); !read) return pass(read);
    return true;
  }

  // Rows that still have their first values need not be written: they can be made again.
  Status restore_whole() {
    if (auto opened = disk_.open(""); !opened) return opened;
    std::ranges::fill(disk_.written(), std::uint8_t{0});
    const std::vector<StateTensor> whole = whole_tensors(layout_);
    for (std::size_t index = 0; index < from_.tensors().size(); ++index) {
      auto other = read_other(index);
      if (!other) return pass(other);
      if (*other) continue;
      const auto place = std::ranges::find(whole, from_.tensors()[index]) - whole.begin();
      auto read = read_whole(index, static_cast<std::size_t>(place) % layout_.rows.size());
      if (!read) return read;
    }
    return {};
  }

  Status read_whole(std::size_t index, std::size_t table) {
    return read_rows(from_, index, [&](std::size_t first, std::span<const float> values) {
      return write_changed(table, disk_.first_of(table) + first, values,
                           from_.tensors()[index].part);
    });
  }

  /// Writes the part of the rows from number `first` on, except of rows with first values.
  Status write_changed(std::size_t table, std::uint64_t first, std::span<const float> values,
                       Part part) {
    const bool weights = part == Part::kWeights;
    const std::size_t own = weights ? layout_.width : layout_.state_width;
    std::vector<float> made(own);
    std::vector<std::uint64_t> numbers;
    std::vector<float> changed;
    for (std::size_t i = 0; i * own < values.size(); ++i) {
      const std::span<const float> row = values.subspan(i * own, own);
      if (weights) disk_.fill_first(table, first + i, made);
      if (std::memcmp(row.data(), made.data(), row.size_bytes()) == 0) continue;
      numbers.push_back(first + i);
      changed.insert(changed.end(), row.begin(), row.end());
    }
    return disk_.write_part(numbers, changed, part);
  }

  /// The snapshot may come from another memory size, so from another number of slots. Its rows,
  /// with their keys, pass through this arena, as many at a time as it holds; rows that do not stay
  /// there are written to the disk.
  Status restore_linked() {
    const StateTensor written = metadata_tensor<std::uint8_t>(kTierWritten, disk_.written_bytes());
    for (std::size_t index = 0; index < from_.tensors().size(); ++index) {
      if (auto other = read_other(index); !other) return pass(other);
      if (from_.tensors()[index] != written) continue;
      auto read = from_.read(index, 0, std::as_writable_bytes(std::span(disk_.written())));
      if (!read) return read;
    }
    auto files = from_.files_folder();
    if (!files) return pass(files);
    if (auto opened = disk_.open(*files); !opened) return opened;
    for (std::size_t first = 0; first < slots_; first += rows_.arena.slots()) {
      const std::size_t count = std::min(rows_.arena.slots(), slots_ - first);
      if (auto read = read_into_arena(first, count); !read) return read;
      if (auto placed = place_rows(first, count); !placed) return placed;
    }
    return {};
  }

  /// Reads the rows of `count` slots of the snapshot, from `first` on, into the first slots here.
  Status read_into_arena(std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i < from_.tensors().size(); ++i) {
      const StateTensor& tensor = from_.tensors()[i];
      if (tensor.name != kTierRows) continue;
      const bool weights = tensor.part == Part::kWeights;
      const std::size_t width = weights ? layout_.width : layout_.state_width;
      const std::span rows(weights ? rows_.arena.weights() : rows_.arena.state(), count * width);
      const auto offset = static_cast<std::uint64_t>(first * width * sizeof(float));
      if (auto read = from_.read(i, offset, std::as_writable_bytes(rows)); !read) return read;
    }
    return {};
  }

  /// Keeps these rows in the arena if they are the snapshot's last, otherwise writes them to the
  /// disk.
  Status place_rows(std::size_t first, std::size_t count) {
    const auto keys_at = std::ranges::find(from_.tensors(), kTierKeys, &StateTensor::name);
    const auto index = static_cast<std::size_t>(keys_at - from_.tensors().begin());
    std::vector<std::int64_t> keys(std::min(count, kRowsAtOnce));
    for (std::size_t slot = 0; slot < count; slot += keys.size()) {
      const auto some = std::span(keys).first(std::min(keys.size(), count - slot));
      const auto offset = static_cast<std::uint64_t>((first + slot) * sizeof(std::int64_t));
      auto done = from_.read(index, offset, std::as_writable_bytes(some));
      for (const std::int64_t key : some) {
        if (done && key != kNobody && !disk_.has(key)) {
          done = fail(Code::kCorrupt, "the checkpoint's tables name a row that they have not");
        }
      }
      if (done) done = first + count == slots_ ? keep(slot, some) : write(slot, some);
      if (!done) return done;
    }
    return {};
  }

  /// Writes the rows of these keys, which start at slot `first`, to the disk.
  Status write(std::size_t first, std::span<const std::int64_t> keys) {
    std::vector<std::uint64_t> numbers;
    std::vector<std::size_t> slots;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] == kNobody) continue;
      numbers.push_back(static_cast<std::uint64_t>(keys[i]));
      slots.push_back(first + i);
    }
    return disk_.write(numbers, [&](std::size_t place, std::span<std::byte> row) {
      copy_row(rows_.arena, slots[place], row);
    });
  }

  Status keep(std::size_t first, std::span<const std::int64_t> keys) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] == kNobody) continue;
      if (rows_.index.find(keys[i]) != RowIndex::kNone) {
        return fail(Code::kCorrupt,
                    "the checkpoint's tables have row " + std::to_string(keys[i]) + " twice");
      }
      rows_.index.put(keys[i], static_cast<std::int32_t>(first + i));
      rows_.flags[first + i] = ResidentRows::kUsed | ResidentRows::kDirty;
    }
    return {};
  }

  const TableLayout& layout_;
  ResidentRows& rows_;
  DiskRows& disk_;
  StateSource& from_;
  const std::vector<MemoryTensor>& others_;
  const std::size_t slots_;  ///< Of a linked snapshot.
};

}  // namespace

void ResidentRows::clear() {
  arena.clear();
  index = RowIndex(arena.slots());
  std::ranges::fill(flags, std::uint8_t{0});
}

void copy_row(const RowArena& arena, std::size_t slot, std::span<std::byte> to) {
  const std::size_t weights = arena.width() * sizeof(float);
  std::memcpy(to.data(), arena.weights(slot), weights);
  if (arena.state_width() == 0) return;
  std::memcpy(to.data() + weights, arena.state(slot), arena.state_width() * sizeof(float));
}

Result<std::unique_ptr<StateSource>> snapshot_of_tiers(const ResidentRows& rows, DiskRows& disk,
                                                       const std::string& folder,
                                                       std::vector<MemoryTensor> others) {
  // Rows that were never trained need not be saved: they can be made again.
  SlotMetadata metadata{.keys = std::vector<std::int64_t>(rows.arena.slots(), kNobody),
                        .written = disk.written()};
  for (std::size_t slot = 0; slot < metadata.keys.size(); ++slot) {
    if ((rows.flags[slot] & ResidentRows::kDirty) == 0) continue;
    metadata.keys[slot] = rows.index.key_of(static_cast<std::int32_t>(slot));
  }
  append_arena(rows.arena, kTierRows, others);
  if (auto linked = disk.log().link(folder); !linked) return pass(linked);
  auto memory = snapshot_of_memory(std::move(others));
  if (!memory) return memory;
  return std::make_unique<TieredSource>(std::move(*memory), std::move(metadata), folder);
}

bool lies_in_tiers(const StateSource& state) {
  return std::ranges::any_of(state.tensors(), [](const StateTensor& tensor) {
    return tensor.part != Part::kTables && tensor.name == kTierRows;
  });
}

Status check_tiers(const TableLayout& layout, const DiskRows& disk, const StateSource& from,
                   const std::vector<MemoryTensor>& others) {
  const bool linked = lies_in_tiers(from);
  const std::size_t slots = slots_of(from);
  if (linked && slots > 8 * disk.written_bytes()) {
    return fail(Code::kInvalid, "the checkpoint's tables have more rows than the job's");
  }
  std::vector<StateTensor> wanted = tensors_of(others);
  if (linked) {
    std::ranges::move(rows_tensors(layout, slots), std::back_inserter(wanted));
    wanted.push_back(metadata_tensor<std::int64_t>(kTierKeys, slots));
    wanted.push_back(metadata_tensor<std::uint8_t>(kTierWritten, disk.written_bytes()));
  } else {
    std::ranges::move(whole_tensors(layout), std::back_inserter(wanted));
  }
  return check_tensors(wanted, from.tensors());
}

Status restore_tiers(const TableLayout& layout, ResidentRows& rows, DiskRows& disk,
                     StateSource& from, const std::vector<MemoryTensor>& others) {
  return TieredRestore(layout, rows, disk, from, others).run();
}

}  // namespace forebay
