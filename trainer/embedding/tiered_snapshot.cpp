#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "trainer/embedding/tiered_tables.h"
#include "trainer/embedding/whole_tables.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNobody = -1;

MemoryTensor as_tensor(StateTensor tensor, std::span<std::byte> memory) {
  return {std::move(tensor), memory, nullptr};
}

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

/// What lies in memory, and a folder of links to what lay on the disk, which it removes in the end.
class TieredSource final : public StateSource {
 public:
  TieredSource(std::unique_ptr<StateSource> memory, std::string folder)
      : memory_(std::move(memory)), folder_(std::move(folder)) {}
  ~TieredSource() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  TieredSource(const TieredSource&) = delete;
  TieredSource& operator=(const TieredSource&) = delete;

  const std::vector<StateTensor>& tensors() const override { return memory_->tensors(); }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override {
    return memory_->read(index, offset, to);
  }

  Status link_files(const std::string& folder) override {
    std::error_code error;
    fs::create_directories(folder, error);
    for (fs::directory_iterator file(folder_, error), end; !error && file != end;
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
  const std::string folder_;
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
  std::vector<std::int64_t> keys(arena_.slots(), kNobody);
  for (std::size_t slot = 0; slot < keys.size(); ++slot) {
    if ((flags_[slot] & kDirty) != 0) keys[slot] = index_.key_of(static_cast<std::int32_t>(slot));
  }
  append_arena(arena_, kRowsTensor, others);
  others.push_back(as_tensor(keys_tensor(keys.size()), std::as_writable_bytes(std::span(keys))));
  others.push_back(
      as_tensor(written_tensor(written_.size()), std::as_writable_bytes(std::span(written_))));
  const std::string folder = options_.folder + ".snapshot";
  if (auto linked = disk_->link(folder); !linked) return pass(linked);
  auto memory = MemorySource::take(std::move(others));
  if (!memory) return memory;
  return std::make_unique<TieredSource>(std::move(*memory), folder);
}

Status TieredTables::restore(StateSource& from, std::vector<MemoryTensor> others) {
  return lies_in_tiers(from) ? restore_linked(from, std::move(others))
                             : restore_whole(from, others);
}

void TieredTables::hold_nothing() {
  index_ = RowIndex(arena_.slots());
  std::ranges::fill(flags_, std::uint8_t{0});
  std::ranges::fill(last_turn_, 0U);
  pins_.clear();
  pinned_ = held_ = 0;
}

/// The snapshot may be of another memory, so of another number of slots. Its rows go through this
/// one's, as many at a time as it holds: what does not stay there is written to the disk.
Status TieredTables::restore_linked(StateSource& from, std::vector<MemoryTensor> others) {
  std::size_t slots = 0;
  for (const StateTensor& tensor : from.tensors()) {
    if (tensor.name == kKeysTensor && tensor.shape.size() == 1 && tensor.shape[0] >= 0) {
      slots = static_cast<std::size_t>(tensor.shape[0]);
    }
  }
  if (slots > 8 * written_.size()) {
    return fail(Code::kInvalid, "the checkpoint's tables have more rows than the job's");
  }
  std::vector<std::int64_t> keys(slots);
  std::vector<std::uint8_t> written(written_.size());
  others.push_back(as_tensor(keys_tensor(slots), std::as_writable_bytes(std::span(keys))));
  others.push_back(
      as_tensor(written_tensor(written.size()), std::as_writable_bytes(std::span(written))));
  if (auto same = has_same_tensors(from, others, slots); !same) return same;
  (void)fetcher_.drain();
  arena_.clear();
  broken_ = fail(Code::kUnavailable, "the tables were to be restored and could not be");
  for (std::size_t i = 0; i < from.tensors().size(); ++i) {
    const StateTensor& tensor = from.tensors()[i];
    if (tensor.name == kRowsTensor) continue;
    const auto place = std::ranges::find(others, tensor, &MemoryTensor::tensor);
    if (auto read = from.read(i, 0, place->memory); !read) return read;
  }
  if (auto opened = restore_disk(from); !opened) return opened;
  written_ = std::move(written);
  hold_nothing();
  broken_ = restore_rows(from, keys);
  return broken_;
}

/// Asked before anything is changed.
Status TieredTables::has_same_tensors(const StateSource& from,
                                      const std::vector<MemoryTensor>& others,
                                      std::size_t slots) const {
  CopyRoom unused(layout_.row_bytes(), 1);
  const RowArena extents(slots, layout_.width, layout_.state_width, unused);
  std::vector<MemoryTensor> rows;
  append_arena(extents, kRowsTensor, rows);
  std::vector<StateTensor> wanted = tensors_of(others);
  std::ranges::move(tensors_of(rows), std::back_inserter(wanted));
  return check_tensors(wanted, from.tensors());
}

Status TieredTables::restore_disk(StateSource& from) {
  const std::string folder = options_.folder + ".restored";
  std::error_code ignored;
  fs::remove_all(folder, ignored);  // Of a run that was killed here.
  fs::create_directories(folder, ignored);
  if (auto status = from.link_files(folder); !status) return status;
  auto opened = open_disk(folder);
  fs::remove_all(folder, ignored);
  return opened;
}

Status TieredTables::restore_rows(StateSource& from, std::span<const std::int64_t> keys) {
  for (const std::int64_t key : keys) {
    if (key != kNobody && static_cast<std::uint64_t>(key) >= all_rows_) {
      return fail(Code::kCorrupt, "the checkpoint's tables name a row that they have not");
    }
  }
  for (std::size_t first = 0; first < keys.size(); first += arena_.slots()) {
    const std::size_t count = std::min(arena_.slots(), keys.size() - first);
    if (auto read = read_into_arena(from, first, count); !read) return read;
    const bool last = first + count == keys.size();
    const auto here = keys.subspan(first, count);
    if (auto put = last ? keep_restored(here) : write_restored(here); !put) return put;
  }
  return {};
}

/// The rows of so many slots of the snapshot, from `first` on, to the first ones here.
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

Status TieredTables::write_restored(std::span<const std::int64_t> keys) {
  leaving_.clear();
  for (std::size_t slot = 0; slot < keys.size(); ++slot) {
    if (keys[slot] == kNobody) continue;
    leaving_.emplace_back(static_cast<std::uint64_t>(keys[slot]), static_cast<std::int32_t>(slot));
  }
  return write_leaving();
}

Status TieredTables::keep_restored(std::span<const std::int64_t> keys) {
  for (std::size_t slot = 0; slot < keys.size(); ++slot) {
    if (keys[slot] == kNobody) continue;
    if (index_.find(keys[slot]) != RowIndex::kNone) {
      return fail(Code::kCorrupt,
                  "the checkpoint's tables have row " + std::to_string(keys[slot]) + " twice");
    }
    index_.put(keys[slot], static_cast<std::int32_t>(slot));
    flags_[slot] = kUsed | kDirty;
  }
  return {};
}

}  // namespace forebay
