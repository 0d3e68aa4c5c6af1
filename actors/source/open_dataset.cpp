#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "actors/source/byte_stream.h"
#include "actors/source/dataset.h"
#include "actors/source/file_list.h"
#include "actors/source/index_cache.h"
#include "actors/source/indexed_dataset.h"
#include "actors/source/indexing.h"
#include "actors/source/manifest.h"
#include "actors/source/partial_file.h"
#include "actors/source/spill_folder.h"
#include "actors/source/spilling.h"

namespace forebay {
namespace {

constexpr std::uint64_t kPiece = 1 << 20;

// What in the job decides where rows start.
Digest settings_of(const DatasetSpec& spec) {
  std::string text = spec.format + '\n' + std::to_string(spec.max_row_bytes);
  if (spec.format == "csv") {
    text += std::string{'\n', spec.csv.delimiter, spec.csv.header ? 'h' : '-'};
  }
  return Digest::of(text.data(), text.size());
}

// The first `bytes` bytes, or all of them; in pieces, since the limit may be set very high.
Result<std::vector<char>> read_head(const ListedFile& listed, std::uint64_t bytes) {
  auto file = InputFile::open(listed.path);
  if (!file) return pass(file);
  auto stream = open_stream(*file, listed.codec, {}, nullptr);
  if (!stream) return pass(stream);
  std::vector<char> head;
  while (head.size() < bytes) {
    const std::size_t size = head.size();
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, bytes - size));
    head.resize(size + piece);
    auto got = (*stream)->next(std::span(head).subspan(size));
    if (!got) return pass(got);
    head.resize(size + *got);
    if (*got < piece) break;
  }
  return head;
}

tl::unexpected<Error> no_rows(const DatasetSpec& spec) {
  std::string paths;
  for (const std::string& path : spec.paths) paths += (paths.empty() ? "" : ", ") + path;
  return fail(Code::kInvalid, "dataset.paths: there is no row in " + paths);
}

// The format as the first file that holds anything shows it; the other files must agree.
Result<std::unique_ptr<Format>> agree_on_format(const std::vector<ListedFile>& files,
                                                const DatasetSpec& spec,
                                                const ColumnSpec& columns) {
  std::unique_ptr<Format> format;
  for (const ListedFile& file : files) {
    auto head = read_head(file, spec.max_row_bytes);
    if (!head) return pass(head);
    if (head->empty()) continue;
    if (format == nullptr) {
      auto opened = open_format(spec, columns, *head);
      if (!opened) return pass(opened);
      format = std::move(*opened);
    } else if (auto status = format->accepts(*head); !status) {
      return fail(status.error().code, file.path + ": " + status.error().message);
    }
  }
  if (format == nullptr) return no_rows(spec);
  return format;
}

}  // namespace

Result<std::unique_ptr<Dataset>> open_dataset(const DatasetSpec& spec, const ColumnSpec& columns,
                                              const DatasetOptions& options) {
  auto listed = list_files(spec.paths, options.base_dir);
  if (!listed) return pass(listed);
  auto format = agree_on_format(*listed, spec, columns);
  if (!format) return pass(format);

  const std::string index_folder = options.run_dir + "/index";
  remove_dead_partials(index_folder);
  std::vector<IndexedFile> files;
  for (ListedFile& file : *listed) {
    IndexedFile& added = files.emplace_back();
    added.index_path = index_path(index_folder, file.absolute);
    added.listed = std::move(file);
  }
  SpillFolder spill(options.run_dir + "/spill", options.spill_limit);
  spill.tidy(index_folder);
  const bool copies = options.random_access && options.spill_limit > 0;
  const IndexingTask task{.options = options,
                          .format = **format,
                          .settings = settings_of(spec),
                          .spill = copies ? &spill : nullptr};
  if (auto status = index_files(files, task); !status) return pass(status);
  if (auto status = spill_files(files, spill, options); !status) return pass(status);

  const auto reads =
      options.random_access ? RestartSource::Reads::kAnywhere : RestartSource::Reads::kInOrder;
  auto dataset = std::make_unique<IndexedDataset>(std::move(*format), std::move(files), reads);
  if (dataset->rows() == 0) return no_rows(spec);
  if (auto status = write_manifest(options.run_dir, *dataset); !status) return pass(status);
  return std::unique_ptr<Dataset>(std::move(dataset));
}

}  // namespace forebay
