#include "actors/source/indexed_dataset.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "actors/input/local_file_system.h"
#include "actors/source/index/content_digest.h"
#include "actors/source/text_blocks.h"
#include "actors/source/unit_blocks.h"

namespace forebay {
namespace {

std::span<const char> as_bytes(const std::uint64_t& word) {
  return {reinterpret_cast<const char*>(&word), sizeof word};
}

Result<std::unique_ptr<const InputFile>> open_stored(const IndexedFile& indexed) {
  auto file = indexed.listed.open();
  if (!file) return pass(file);
  if (auto status = (*file)->check(indexed.index.stamp); !status) return pass(status);
  return file;
}

}  // namespace

Digest fingerprint_of(const std::vector<DatasetFile>& files) {
  ContentDigest digest;
  for (const DatasetFile& file : files) {
    digest.add(as_bytes(file.name.size()));
    digest.add(file.name);
    digest.add(as_bytes(file.bytes));
    digest.add(as_bytes(file.content.low));
    digest.add(as_bytes(file.content.high));
  }
  return digest.digest();
}

IndexedDataset::IndexedDataset(std::unique_ptr<Format> format, std::vector<IndexedFile> files,
                               RestartSource::Reads reads)
    : format_(std::move(format)), indexed_(std::move(files)), first_block_{0}, reads_(reads) {
  for (const IndexedFile& file : indexed_) {
    files_.push_back({.path = file.listed.path,
                      .name = file.listed.name,
                      .bytes = file.index.bytes,
                      .rows = file.index.rows,
                      .content = file.index.content});
    first_block_.push_back(first_block_.back() + file.index.num_blocks());
    rows_ += file.index.rows;
    bytes_ += file.index.loaded_bytes();
  }
  fingerprint_ = fingerprint_of(files_);
}

BlockRef IndexedDataset::block(std::size_t i) const {
  const auto after = std::upper_bound(first_block_.begin(), first_block_.end(), i);
  const auto file = static_cast<std::size_t>(std::prev(after) - first_block_.begin());
  const FileIndex& index = indexed_[file].index;
  const std::size_t place = i - first_block_[file];
  if (index.has_units()) {
    const Unit& unit = index.units[place];
    return {.file = static_cast<std::uint32_t>(file),
            .rows = unit.rows,
            .offset = unit.first_row,
            .bytes = unit.bytes,
            .line = place};
  }
  const Block& block = index.blocks[place];
  const bool last = place + 1 == index.blocks.size();
  const std::uint64_t end = last ? index.bytes : index.blocks[place + 1].offset;
  return {.file = static_cast<std::uint32_t>(file),
          .rows = block.rows,
          .offset = block.offset,
          .bytes = end - block.offset,
          .line = block.line,
          .check_before = block.check,
          .check_after = last ? index.check : index.blocks[place + 1].check};
}

Result<std::unique_ptr<BlockSource>> IndexedDataset::open(std::uint32_t number) const {
  if (const UnitFormat* units = format_->units()) {
    const IndexedFile& indexed = indexed_[number];
    auto file = open_stored(indexed);
    if (!file) return pass(file);
    return open_units(std::move(*file), *units, indexed.index);
  }
  auto content = open_content(number);
  if (!content) return pass(content);
  return std::unique_ptr<BlockSource>(std::make_unique<TextBlocks>(*this, std::move(*content)));
}

Result<std::unique_ptr<ByteSource>> IndexedDataset::open_content(std::uint32_t number) const {
  const IndexedFile& indexed = indexed_[number];
  auto file = open_stored(indexed);
  if (!file) return pass(file);
  if (indexed.index.codec == Codec::kPlain) {
    return std::unique_ptr<ByteSource>(
        std::make_unique<PlainSource>(std::move(*file), indexed.index.stamp));
  }
  if (!indexed.spill_path.empty()) {
    auto spill = open_local_file(indexed.spill_path);
    if (!spill) return pass(spill);
    const FileStamp stamp = (*spill)->stamp();
    if (stamp.bytes != indexed.index.bytes) {
      return fail(Code::kCorrupt, indexed.spill_path + " was changed; remove it and run again");
    }
    return std::unique_ptr<ByteSource>(std::make_unique<PlainSource>(std::move(*spill), stamp));
  }
  auto index_file = open_local_file(indexed.index_path);
  if (!index_file) return pass(index_file);
  return std::unique_ptr<ByteSource>(std::make_unique<RestartSource>(
      std::move(*file), std::move(*index_file), indexed.index, reads_));
}

}  // namespace forebay
