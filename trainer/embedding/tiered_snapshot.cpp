#include <algorithm>
#include <filesystem>
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

Status TieredTables::restore_linked(StateSource& from, std::vector<MemoryTensor> others) {
  // The snapshot may be of another memory, so of another number of slots.
  std::size_t slots = 0;
  for (const StateTensor& tensor : from.tensors()) {
    if (tensor.name == kKeysTensor && tensor.shape.size() == 1 && tensor.shape[0] >= 0) {
      slots = static_cast<std::size_t>(tensor.shape[0]);
    }
  }
  if (slots > 8 * written_.size()) {
    return fail(Code::kInvalid, "the checkpoint's tables have more rows than the job's");
  }
  CopyRoom unused(layout_.row_bytes(), 1);
  const RowArena rows(slots, layout_.width, layout_.state_width, unused);
  std::vector<std::int64_t> keys(slots);
  std::vector<std::uint8_t> written(written_.size());
  append_arena(rows, kRowsTensor, others);
  others.push_back(as_tensor(keys_tensor(slots), std::as_writable_bytes(std::span(keys))));
  others.push_back(
      as_tensor(written_tensor(written.size()), std::as_writable_bytes(std::span(written))));
  if (auto same = check_tensors(tensors_of(others), from.tensors()); !same) return same;
  // What is resident is given up first, so that rows are in memory once: here, until they are
  // written to the disk.
  arena_.clear();
  broken_ = fail(Code::kUnavailable, "the tables were to be restored and could not be");
  if (auto status = restore_memory(from, others); !status) return status;
  const std::string folder = options_.folder + ".restored";
  disk_.reset();
  std::error_code ignored;
  fs::remove_all(folder, ignored);  // Of a run that was killed here.
  if (auto status = from.link_files(folder); !status) return status;
  auto disk = RocksRows::create(options_.folder, disk_options(layout_), folder);
  fs::remove_all(folder, ignored);
  if (!disk) return pass(disk);
  disk_ = std::move(*disk);
  written_ = std::move(written);
  hold_nothing();
  broken_ = write_restored(rows, keys);
  return broken_;
}

/// Rows that lay in memory when the snapshot was taken go to the disk: what is needed will be read.
Status TieredTables::write_restored(const RowArena& rows, std::span<const std::int64_t> keys) {
  constexpr std::size_t kAtOnce = 4096;
  const std::size_t weights = layout_.width * sizeof(float);
  const std::size_t state = layout_.state_width * sizeof(float);
  std::vector<std::uint64_t> numbers;
  std::vector<std::byte> values;
  for (std::size_t slot = 0; slot <= keys.size(); ++slot) {
    if (numbers.size() == kAtOnce || (slot == keys.size() && !numbers.empty())) {
      if (auto status = disk_->write(numbers, values); !status) return status;
      numbers.clear();
      values.clear();
    }
    if (slot == keys.size() || keys[slot] == kNobody) continue;
    const auto number = static_cast<std::uint64_t>(keys[slot]);
    if (number / 8 >= written_.size()) {
      return fail(Code::kCorrupt, "the checkpoint's tables name a row that they have not");
    }
    const auto* from = reinterpret_cast<const std::byte*>(rows.weights(slot));
    values.insert(values.end(), from, from + weights);
    const auto* more = reinterpret_cast<const std::byte*>(rows.state(slot));
    if (state > 0) values.insert(values.end(), more, more + state);
    numbers.push_back(number);
    written_[number / 8] |= static_cast<std::uint8_t>(1U << (number % 8));
  }
  return {};
}

}  // namespace forebay
