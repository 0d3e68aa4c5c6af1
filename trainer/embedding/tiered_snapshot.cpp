#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "core/base/open_files.h"
#include "trainer/embedding/tiered_tables.h"
#include "trainer/embedding/whole_tables.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNobody = -1;

// Rows of a snapshot that are restored at a time.
constexpr std::size_t kRowsAtOnce = 4096;

StateTensor keys_tensor(std::size_t slots) {
  return {.name = TieredTables::kKeysTensor,
          .part = StateTensor::Part::kTables,
          .type = ElementType::kI64,
          .shape = {static_cast<std::int64_t>(slots)}};
}

StateTensor written_tensor(std::size_t bytes) {
  return {.name = TieredTables::kWrittenTensor,
          .part = StateTensor::Part::kTables,
          .type = ElementType::kU8,
          .shape = {static_cast<std::int64_t>(bytes)}};
}

/// Tensors of the rows of `slots` slots.
std::vector<StateTensor> rows_tensors(const TableLayout& layout, std::size_t slots) {
  const auto rows = [&](StateTensor::Part part, std::size_t width) {
    return StateTensor{
        .name = TieredTables::kRowsTensor,
        .part = part,
        .type = ElementType::kF32,
        .shape = {static_cast<std::int64_t>(slots), static_cast<std::int64_t>(width)}};
  };
  std::vector<StateTensor> tensors = {rows(StateTensor::Part::kWeights, layout.width)};
  if (layout.state_width > 0) {
    tensors.push_back(rows(StateTensor::Part::kOptimizer, layout.state_width));
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
    tensors_.push_back(keys_tensor(metadata_.keys.size()));
    tensors_.push_back(written_tensor(metadata_.written.size()));
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
      if (refused) fs::copy_file(file->path(), to, error);
      if (error) break;
    }
    if (!error) return {};
    return fail(Code::kUnavailable,
                "the tables' files cannot be linked into " + folder + " (" + error.message() + ")");
  }

  Result<std::string> files_folder() override { return folder_; }

 private:
  const std::unique_ptr<StateSource> memory_;
  const SlotMetadata metadata_;
  const std::string folder_;
  std::vector<StateTensor> tensors_;
};

}  // namespace

Result<std::unique_ptr<StateSource>> TieredTables::snapshot(std::vector<MemoryTensor> others) {
  auto linked = linked_snapshot(std::move(others));
  if (!linked || options_.snapshot == Snapshot::kLinked) return linked;
  return std::make_unique<WholeTables>(layout_, std::move(*linked), options_.folder + ".whole");
}

Result<std::unique_ptr<StateSource>> TieredTables::linked_snapshot(
    std::vector<MemoryTensor> others) {
  if (!broken_) return pass(broken_);
  if (auto came = fetcher_.drain(); !came) return pass(came);
  // Rows that were never trained need not be saved: they can be made again.
  SlotMetadata metadata{.keys = std::vector<std::int64_t>(arena_.slots(), kNobody),
                        .written = written_};
  for (std::size_t slot = 0; slot < metadata.keys.size(); ++slot) {
    if ((flags_[slot] & kDirty) == 0) continue;
    metadata.keys[slot] = index_.key_of(static_cast<std::int32_t>(slot));
  }
  append_arena(arena_, kRowsTensor, others);
  const std::string folder = options_.folder + ".snapshot";
  if (auto linked = disk_->link(folder); !linked) return pass(linked);
  auto memory = MemorySource::take(std::move(others));
  if (!memory) return memory;
  return std::make_unique<TieredSource>(std::move(*memory), std::move(metadata), folder);
}

Status TieredTables::restore(StateSource& from, std::vector<MemoryTensor> others) {
  return lies_in_tiers(from) ? restore_linked(from, others) : restore_whole(from, others);
}

void TieredTables::hold_nothing() {
  index_ = RowIndex(arena_.slots());
  std::ranges::fill(flags_, std::uint8_t{0});
  std::ranges::fill(last_turn_, 0U);
  pins_.clear();
  pinned_ = held_ = 0;
}

/// The snapshot may come from another memory size, so from another number of slots. Its rows, with
/// their keys, pass through this arena, as many at a time as it holds; rows that do not stay there
/// are written to the disk.
Status TieredTables::restore_linked(StateSource& from, const std::vector<MemoryTensor>& others) {
  std::size_t slots = 0;
  for (const StateTensor& tensor : from.tensors()) {
    if (tensor.name == kKeysTensor && tensor.shape.size() == 1 && tensor.shape[0] >= 0) {
      slots = static_cast<std::size_t>(tensor.shape[0]);
    }
  }
  if (slots > 8 * written_.size()) {
    return fail(Code::kInvalid, "the checkpoint's tables have more rows than the job's");
  }
  std::vector<StateTensor> wanted = tensors_of(others);
  std::ranges::move(rows_tensors(layout_, slots), std::back_inserter(wanted));
  wanted.push_back(keys_tensor(slots));
  const StateTensor written = written_tensor(written_.size());
  wanted.push_back(written);
  if (auto same = check_tensors(wanted, from.tensors()); !same) return same;
  (void)fetcher_.drain();
  arena_.clear();
  broken_ = fail(Code::kUnavailable, "the tables were to be restored and could not be");
  for (std::size_t i = 0; i < from.tensors().size(); ++i) {
    const StateTensor& tensor = from.tensors()[i];
    const auto place = std::ranges::find(others, tensor, &MemoryTensor::tensor);
    Status read;
    if (place != others.end()) read = from.read(i, 0, place->memory);
    if (tensor == written) read = from.read(i, 0, std::as_writable_bytes(std::span(written_)));
    if (!read) return read;
  }
  if (auto opened = restore_disk(from); !opened) return opened;
  hold_nothing();
  broken_ = restore_rows(from, slots);
  return broken_;
}

Status TieredTables::restore_disk(StateSource& from) {
  const std::string folder = options_.folder + ".restored";
  std::error_code ignored;
  fs::remove_all(folder, ignored);  // Left by a run that was killed here.
  fs::create_directories(folder, ignored);
  if (auto status = from.link_files(folder); !status) return status;
  auto opened = open_disk(folder);
  fs::remove_all(folder, ignored);
  return opened;
}

Status TieredTables::restore_rows(StateSource& from, std::size_t slots) {
  for (std::size_t first = 0; first < slots; first += arena_.slots()) {
    const std::size_t count = std::min(arena_.slots(), slots - first);
    if (auto read = read_into_arena(from, first, count); !read) return read;
    if (auto placed = place_rows(from, first, count); !placed) return placed;
  }
  return {};
}

/// Reads the rows of `count` slots of the snapshot, from `first` on, into the first slots here.
Status TieredTables::read_into_arena(StateSource& from, std::size_t first, std::size_t count) {
  for (std::size_t i = 0; i < from.tensors().size(); ++i) {
    const StateTensor& tensor = from.tensors()[i];
    if (tensor.name != kRowsTensor) continue;
    const bool weights = tensor.part == StateTensor::Part::kWeights;
    const std::size_t width = weights ? layout_.width : layout_.state_width;
    const std::span rows(weights ? arena_.weights() : arena_.state(), count * width);
    const auto offset = static_cast<std::uint64_t>(first * width * sizeof(float));
    if (auto read = from.read(i, offset, std::as_writable_bytes(rows)); !read) return read;
  }
  return {};
}

/// Keeps these rows in the arena if they are the snapshot's last, otherwise writes them to the
/// disk.
Status TieredTables::place_rows(StateSource& from, std::size_t first, std::size_t count) {
  const auto keys_at = std::ranges::find(from.tensors(), kKeysTensor, &StateTensor::name);
  const auto index = static_cast<std::size_t>(keys_at - from.tensors().begin());
  const bool last = first + count == static_cast<std::size_t>(keys_at->shape[0]);
  std::vector<std::int64_t> keys(std::min(count, kRowsAtOnce));
  for (std::size_t slot = 0; slot < count; slot += keys.size()) {
    const auto some = std::span(keys).first(std::min(keys.size(), count - slot));
    const auto offset = static_cast<std::uint64_t>((first + slot) * sizeof(std::int64_t));
    auto done = from.read(index, offset, std::as_writable_bytes(some));
    if (done) done = last ? keep_restored(slot, some) : write_restored(slot, some);
    if (!done) return done;
  }
  return {};
}

Status TieredTables::has_row(std::int64_t key) const {
  if (key == kNobody || static_cast<std::uint64_t>(key) < all_rows_) return {};
  return fail(Code::kCorrupt, "the checkpoint's tables name a row that they have not");
}

/// Writes the rows of these keys, which start at slot `first`, to the disk.
Status TieredTables::write_restored(std::size_t first, std::span<const std::int64_t> keys) {
  leaving_.clear();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (auto known = has_row(keys[i]); !known) return known;
    if (keys[i] == kNobody) continue;
    leaving_.emplace_back(static_cast<std::uint64_t>(keys[i]),
                          static_cast<std::int32_t>(first + i));
  }
  return write_leaving();
}

Status TieredTables::keep_restored(std::size_t first, std::span<const std::int64_t> keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (auto known = has_row(keys[i]); !known) return known;
    if (keys[i] == kNobody) continue;
    if (index_.find(keys[i]) != RowIndex::kNone) {
      return fail(Code::kCorrupt,
                  "the checkpoint's tables have row " + std::to_string(keys[i]) + " twice");
    }
    index_.put(keys[i], static_cast<std::int32_t>(first + i));
    flags_[first + i] = kUsed | kDirty;
  }
  return {};
}

}  // namespace forebay
