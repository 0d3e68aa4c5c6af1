#include "actors/source/indexed_dataset.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "actors/input/local_file_system.h"
#include "actors/source/index/index_cache.h"
#include "actors/source/index/index_pass.h"
#include "actors/source/index/partial_file.h"
#include "actors/source/indexing.h"
#include "actors/source/manifest.h"
#include "actors/source/spill_folder.h"
#include "actors/source/spilling.h"
#include "actors/source/unit_blocks.h"
#include "core/base/thread/parallel.h"

namespace forebay {
namespace {

std::span<const char> as_bytes(const std::uint64_t& word) {
  return {reinterpret_cast<const char*>(&word), sizeof word};
}

// Of text in a store, whose blocks are grains.
constexpr std::uint64_t kGrainSlot = 1 << 20;

Digest digest_of(const std::string& text) { return Digest::of(text.data(), text.size()); }

// Returns the digest of the inputs of a text format. Whether a file fits the format depends on
// these inputs and the settings alone.
Digest agreement_of(const ColumnSpec& columns, std::span<const char> head) {
  std::string text = columns.label;
  for (const auto* names : {&columns.dense, &columns.sparse}) {
    text += '\n';
    for (const std::string& name : *names) text += name + '\t';
  }
  text.append(head.begin(), head.end());
  return digest_of(text);
}

tl::unexpected<Error> no_rows(const DatasetSpec& spec) {
  std::string paths;
  for (const std::string& path : spec.paths) paths += (paths.empty() ? "" : ", ") + path;
  return fail(Code::kInvalid, "dataset.paths: there is no row in " + paths);
}

struct Agreement {
  std::unique_ptr<Format> format;
  Digest settings;  // of the job's settings that decide where blocks start
  Digest digest;    // of all that decides whether a file fits the format
};

Agreement agreement(const DatasetSpec& spec, std::unique_ptr<Format> format, const Digest& inputs) {
  const Digest settings = digest_of(spec.format + '\n' + format->index_settings());
  return {.format = std::move(format), .settings = settings, .digest = settings.then(inputs)};
}

// Determines the format from the start of the first file that is not empty.
Result<Agreement> agree_on_text(const std::vector<ListedFile>& files, const DatasetSpec& spec,
                                const ColumnSpec& columns, const OpenTextFormat& open) {
  for (const ListedFile& file : files) {
    auto head = read_head(file, spec.max_row_bytes);
    if (!head) return pass(head);
    if (head->empty()) continue;
    auto format = open(spec, columns, *head);
    if (!format) return pass(format);
    return agreement(spec, std::move(*format), agreement_of(columns, *head));
  }
  return no_rows(spec);
}

// The settings of such a format cover whether a file fits, so there are no further inputs.
Result<Agreement> agree_on_units(const std::vector<ListedFile>& files, const DatasetSpec& spec,
                                 const ColumnSpec& columns, const OpenUnitFormat& open) {
  auto file = files.front().open_unchanged();
  if (!file) return pass(file);
  std::size_t opened = 1;
  auto format = open(spec, columns, **file, [&]() -> Result<std::unique_ptr<const InputFile>> {
    if (opened == files.size()) return nullptr;
    return files[opened++].open_unchanged();
  });
  if (!format) return pass(format);
  return agreement(spec, std::move(*format), {});
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
  is_remote_ = std::ranges::any_of(
      indexed_, [](const IndexedFile& file) { return file.listed.file_system->is_remote(); });
  for (IndexedFile& file : indexed_) {
    if (is_remote_) file.index.coarsen(kGrainSlot);
    if (file.metadata != nullptr) {
      unit_files_.keep(static_cast<std::uint32_t>(files_.size()), std::move(file.metadata),
                       file.index.units.size());
    }
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
            .line = place,
            .decoded = unit.decoded};
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
    auto file = indexed.listed.open_unchanged();
    if (!file) return pass(file);
    auto metadata = unit_files_.open(number, **file, *units, indexed.index);
    if (!metadata) return pass(metadata);
    return load_units(std::move(*file), std::move(*metadata), indexed.index.stamp);
  }
  auto content = open_content(number);
  if (!content) return pass(content);
  return std::unique_ptr<BlockSource>(std::make_unique<TextBlocks>(*this, std::move(*content)));
}

Status IndexedDataset::read_metadata() const {
  if (!is_remote_ || format_->units() == nullptr) return {};
  std::size_t files = 0;
  for (std::size_t units = 0; files < indexed_.size(); ++files) {
    units += indexed_[files].index.units.size();
    if (units > UnitFiles::kMostKept) break;
  }
  std::vector<Status> ends(files);
  for_each_in_parallel(files, kRemoteFilesAtOnce, [&](std::size_t i) {
    if (auto opened = open(static_cast<std::uint32_t>(i)); !opened) ends[i] = pass(opened);
  });
  const auto failed = std::ranges::find_if(ends, [](const Status& end) { return !end; });
  return failed == ends.end() ? Status{} : *failed;
}

Result<std::unique_ptr<ByteSource>> IndexedDataset::open_content(std::uint32_t number) const {
  const IndexedFile& indexed = indexed_[number];
  auto file = indexed.listed.open_unchanged();
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

Result<std::unique_ptr<Dataset>> open_dataset(const DatasetSpec& spec, const ColumnSpec& columns,
                                              const DatasetOptions& options) {
  auto entry = options.formats.of(spec.format);
  if (!entry) return pass(entry);
  const bool has_units = entry->open_units != nullptr;
  const Packing packing = !has_units    ? Packing::kByContent
                          : entry->view ? Packing::kGrouped
                                        : Packing::kNone;
  const FileSystems systems = entry->files_of(options.file_systems);
  auto listed = list_files(spec.paths, options.base_dir, systems, packing);
  if (!listed) return pass(listed);
  auto agreed = has_units ? agree_on_units(*listed, spec, columns, entry->open_units)
                          : agree_on_text(*listed, spec, columns, entry->open_text);
  if (!agreed) return pass(agreed);

  const std::string index_folder = options.run_dir + "/index";
  remove_dead_partials(index_folder);
  std::vector<IndexedFile> files;
  for (ListedFile& file : *listed) {
    IndexedFile& added = files.emplace_back();
    added.index_path = index_path(index_folder, file.absolute);
    if (!options.index_from.empty()) {
      added.other_index_path = index_path(options.index_from, file.absolute);
    }
    added.listed = std::move(file);
  }
  SpillFolder spill(options.run_dir + "/spill", options.spill_limit);
  spill.tidy(index_folder, options.file_systems);
  const bool copies = options.random_access && options.spill_limit > 0;
  const IndexingTask task{.options = options,
                          .format = *agreed->format,
                          .settings = agreed->settings,
                          .agreement = agreed->digest,
                          .head_bytes = spec.max_row_bytes,
                          .spill = copies ? &spill : nullptr};
  if (auto status = index_files(files, task); !status) return pass(status);
  if (auto status = spill_files(files, spill, options); !status) return pass(status);

  const auto reads =
      options.random_access ? RestartSource::Reads::kAnywhere : RestartSource::Reads::kInOrder;
  auto dataset =
      std::make_unique<IndexedDataset>(std::move(agreed->format), std::move(files), reads);
  if (dataset->rows() == 0) return no_rows(spec);
  if (auto status = dataset->read_metadata(); !status) return pass(status);
  // A dataset opened with another run's index is never resumed and needs no manifest.
  if (options.index_from.empty()) {
    if (auto status = write_manifest(options.run_dir, *dataset); !status) return pass(status);
  }
  return std::unique_ptr<Dataset>(std::move(dataset));
}

}  // namespace forebay
