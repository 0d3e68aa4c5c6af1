#include <string>
#include <utility>
#include <vector>

#include "actors/source/dataset.h"
#include "actors/source/index/index_cache.h"
#include "actors/source/index/partial_file.h"
#include "actors/source/indexed_dataset.h"
#include "actors/source/indexing.h"
#include "actors/source/manifest.h"
#include "actors/source/spill_folder.h"
#include "actors/source/spilling.h"
#include "actors/source/stored/file_list.h"

namespace forebay {
namespace {

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
Result<Agreement> agree_on_units(const ListedFile& first, const DatasetSpec& spec,
                                 const ColumnSpec& columns, const OpenUnitFormat& open) {
  auto file = first.open();
  if (!file) return pass(file);
  auto format = open(spec, columns, **file);
  if (!format) return pass(format);
  return agreement(spec, std::move(*format), {});
}

}  // namespace

Result<std::unique_ptr<Dataset>> open_dataset(const DatasetSpec& spec, const ColumnSpec& columns,
                                              const DatasetOptions& options) {
  auto entry = options.formats.of(spec.format);
  if (!entry) return pass(entry);
  const bool has_units = entry->open_units != nullptr;
  auto listed = list_files(spec.paths, options.base_dir, options.file_systems,
                           has_units ? Packing::kNone : Packing::kByContent);
  if (!listed) return pass(listed);
  auto agreed = has_units ? agree_on_units(listed->front(), spec, columns, entry->open_units)
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
  // A dataset opened with another run's index is never resumed and needs no manifest.
  if (options.index_from.empty()) {
    if (auto status = write_manifest(options.run_dir, *dataset); !status) return pass(status);
  }
  return std::unique_ptr<Dataset>(std::move(dataset));
}

}  // namespace forebay
