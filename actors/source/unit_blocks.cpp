#include "actors/source/unit_blocks.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/source/stored/file_list.h"

namespace forebay {
namespace {

// A unit that is being read. Compares the file's stamp with the index before and after, as all
// formats need it: a program may be writing to the file right now.
class PendingUnit final : public PendingBlock {
 public:
  PendingUnit(const InputFile& file, const FileStamp& indexed, const BlockRef& block,
              const UnitRead& read, std::span<char> out)
      : file_(file), indexed_(indexed), fits_(read.bytes() <= block.bytes) {
    if (!fits_) return;
    std::ranges::copy(read.head, out.begin());
    filled_ = read.head.size();
    std::vector<ReadRange> ranges;
    for (const FileRange& range : read.ranges) {
      ranges.push_back({range.offset, out.subspan(filled_, range.bytes)});
      filled_ += range.bytes;
    }
    read_ = file_.begin_read(std::move(ranges));
  }

  Result<std::size_t> finish() override {
    if (!fits_) return changed_since_indexed(file_.path());
    if (auto status = file_.check(indexed_); !status) return pass(status);
    if (auto status = read_->wait(); !status) return pass(status);
    if (auto status = file_.check(indexed_); !status) return pass(status);
    return filled_;
  }

 private:
  const InputFile& file_;
  const FileStamp& indexed_;
  const bool fits_;
  std::size_t filled_ = 0;
  std::unique_ptr<PendingRead> read_;
};

class UnitBlocks final : public BlockSource {
 public:
  UnitBlocks(std::unique_ptr<const InputFile> file, std::shared_ptr<const UnitFile> units,
             const FileStamp& indexed)
      : file_(std::move(file)), units_(std::move(units)), indexed_(indexed) {}

  Result<std::size_t> load(const BlockRef& block, std::span<char> out) override {
    return PendingUnit(*file_, indexed_, block, units_->read_of(block.line), out).finish();
  }
  std::unique_ptr<PendingBlock> begin(const BlockRef& block, std::span<char> out) override {
    if (!file_->is_remote()) return nullptr;
    return std::make_unique<PendingUnit>(*file_, indexed_, block, units_->read_of(block.line), out);
  }

 private:
  std::unique_ptr<const InputFile> file_;
  std::shared_ptr<const UnitFile> units_;
  FileStamp indexed_;
};

// Fills in the first rows, and returns the number of rows of the file.
Result<std::uint64_t> number_rows(std::vector<Unit>& units, const std::string& path) {
  const auto refuse = [&path](const std::string& what) {
    return fail(Code::kCorrupt, path + ": its metadata are damaged: " + what);
  };
  if (units.size() > kMostUnits) {
    return fail(Code::kInvalid, path + " has " + std::to_string(units.size()) +
                                    " units to read; split it into files of at most " +
                                    std::to_string(kMostUnits));
  }
  std::uint64_t rows = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    Unit& unit = units[i];
    if (unit.rows == 0) return refuse("unit " + std::to_string(i) + " has no rows");
    if (const std::uint64_t most = std::max(unit.bytes, unit.decoded); most > kMostFileBytes) {
      return refuse("unit " + std::to_string(i) + " has " + std::to_string(most) + " bytes");
    }
    unit.first_row = rows;
    rows += unit.rows;  // no overflow: 2²⁰ units of 2³² rows
  }
  if (rows > kMostFileBytes) return refuse(std::to_string(rows) + " rows");
  return rows;
}

}  // namespace

Result<FileIndex> index_units(const InputFile& file, const UnitFormat& format) {
  auto opened = format.open(file);
  return opened ? index_units(file, **opened) : pass(opened);
}

Result<FileIndex> index_units(const InputFile& file, const UnitFile& metadata) {
  std::vector<Unit> units = metadata.units();
  auto rows = number_rows(units, file.path());
  if (!rows) return pass(rows);
  if (auto status = file.check(file.stamp()); !status) return pass(status);
  FileIndex index;
  index.stamp = file.stamp();
  index.bytes = file.size();
  index.rows = *rows;
  index.content = metadata.content();
  index.slot_bytes = FileIndex::kNoSlots;
  index.units = std::move(units);
  return index;
}

Result<std::shared_ptr<const UnitFile>> UnitFiles::open(std::uint32_t number, const InputFile& file,
                                                        const UnitFormat& format,
                                                        const FileIndex& index) const {
  auto kept = serial_([&]() -> std::shared_ptr<const UnitFile> {
    const auto found = kept_.find(number);
    return found == kept_.end() ? nullptr : found->second;
  });
  if (kept != nullptr) return kept;
  auto opened = format.open(file);
  if (!opened) return pass(opened);
  if ((*opened)->content() != index.content) return changed_since_indexed(file.path());
  std::shared_ptr<const UnitFile> units = std::move(*opened);
  keep(number, units, index.units.size());
  return units;
}

void UnitFiles::keep(std::uint32_t number, std::shared_ptr<const UnitFile> metadata,
                     std::size_t units) const {
  serial_([&] {
    const bool fits = units_ + units <= kMostKept;
    if (fits && kept_.emplace(number, std::move(metadata)).second) units_ += units;
  });
}

std::unique_ptr<BlockSource> load_units(std::unique_ptr<const InputFile> file,
                                        std::shared_ptr<const UnitFile> units,
                                        const FileStamp& indexed) {
  return std::make_unique<UnitBlocks>(std::move(file), std::move(units), indexed);
}

}  // namespace forebay
