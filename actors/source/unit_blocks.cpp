#include "actors/source/unit_blocks.h"

#include <string>
#include <utility>

#include "actors/source/stored/file_list.h"

namespace forebay {
namespace {

// Compares the file's stamp with the index at each load, as all formats need it.
class UnitBlocks final : public BlockSource {
 public:
  UnitBlocks(std::unique_ptr<const InputFile> file, std::unique_ptr<UnitFile> units,
             const FileStamp& indexed)
      : file_(std::move(file)), units_(std::move(units)), indexed_(indexed) {}

  Result<std::size_t> load(const BlockRef& block, std::span<char> out) override {
    if (auto status = file_->check(indexed_); !status) return pass(status);
    auto size = units_->load(block, out);
    // If a program is writing to the file right now, the file's time has changed, and that error
    // explains more.
    if (!size) {
      if (auto status = file_->check(indexed_); !status) return pass(status);
    }
    return size;
  }
  void prepare(std::span<const BlockRef> blocks) override { units_->prepare(blocks); }

 private:
  std::unique_ptr<const InputFile> file_;
  std::unique_ptr<UnitFile> units_;
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
    if (unit.bytes > kMostFileBytes) {
      return refuse("unit " + std::to_string(i) + " has " + std::to_string(unit.bytes) + " bytes");
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
  if (!opened) return pass(opened);
  std::vector<Unit> units = (*opened)->units();
  auto rows = number_rows(units, file.path());
  if (!rows) return pass(rows);
  if (auto status = file.check(file.stamp()); !status) return pass(status);
  FileIndex index;
  index.stamp = file.stamp();
  index.bytes = file.size();
  index.rows = *rows;
  index.content = (*opened)->content();
  index.slot_bytes = FileIndex::kNoSlots;
  index.units = std::move(units);
  return index;
}

Result<std::unique_ptr<BlockSource>> open_units(std::unique_ptr<const InputFile> file,
                                                const UnitFormat& format, const FileIndex& index) {
  auto units = format.open(*file);
  if (!units) return pass(units);
  if ((*units)->content() != index.content) return changed_since_indexed(file->path());
  return std::unique_ptr<BlockSource>(
      std::make_unique<UnitBlocks>(std::move(file), std::move(*units), index.stamp));
}

}  // namespace forebay
