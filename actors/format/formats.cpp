#include "actors/format/formats.h"

#include <algorithm>
#include <utility>

#include "actors/format/criteo/criteo_tsv.h"
#include "actors/format/csv/csv.h"
#include "actors/format/npy/npy_format.h"
#include "actors/format/npy/trio_files.h"
#include "actors/format/parquet/parquet_format.h"

namespace forebay {
namespace {

Result<std::unique_ptr<TextFormat>> open_criteo(const DatasetSpec& dataset,
                                                const ColumnSpec& columns, std::span<const char>) {
  auto level = chosen_cpu_level();
  if (!level) return pass(level);
  return open_criteo_tsv(dataset, columns, *level);
}

Result<std::unique_ptr<UnitFormat>> open_trios(const DatasetSpec& dataset,
                                               const ColumnSpec& columns, const InputFile& first,
                                               const NextFile&) {
  return open_npy(dataset, columns, first);
}

}  // namespace

// The only table of built-in formats, one row each.
Formats::Formats()
    : entries_{{.name = "criteo_tsv", .open_text = open_criteo},
               {.name = "csv", .open_text = open_csv},
               {.name = "parquet", .open_units = open_parquet},
               {.name = "npy", .open_units = open_trios, .view = npy::trios_in}} {}

void Formats::add(FormatEntry entry) {
  std::erase_if(entries_, [&entry](const FormatEntry& old) { return old.name == entry.name; });
  entries_.push_back(std::move(entry));
}

Result<FormatEntry> Formats::of(const std::string& name) const {
  const auto found = std::ranges::find(entries_, name, &FormatEntry::name);
  if (found != entries_.end()) return *found;
  std::string names;
  for (const FormatEntry& entry : entries_) names += (names.empty() ? "" : ", ") + entry.name;
  return fail(Code::kInvalid,
              "dataset.format: \"" + name + "\" is not a format; those there are: " + names);
}

}  // namespace forebay
