#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/format/format.h"
#include "actors/format/next_file.h"
#include "actors/input/file_system.h"
#include "actors/pipeline_spec.h"
#include "core/base/result.h"

namespace forebay {

/// Opens a format of text and resolves `columns` against the dataset's first file; `head` holds at
/// least that file's first max_row_bytes bytes, or all of it. kInvalid, naming the key, for a
/// column or glob that matches nothing, a column used twice, a header that has a wanted name twice,
/// or a missing label.
using OpenTextFormat = std::function<Result<std::unique_ptr<TextFormat>>(
    const DatasetSpec& dataset, const ColumnSpec& columns, std::span<const char> head)>;

/// Opens a format with units of its own and resolves `columns` against the dataset's first file,
/// and by those that follow it where it does not say what a column holds. Fails like OpenTextFormat
/// and, for damaged metadata, like UnitFormat::open().
using OpenUnitFormat = std::function<Result<std::unique_ptr<UnitFormat>>(
    const DatasetSpec& dataset, const ColumnSpec& columns, const InputFile& first,
    const NextFile& next)>;

/// One format: exactly one of the two functions is set.
struct FormatEntry {
  std::string name;  ///< The value of `dataset.format`.
  OpenTextFormat open_text = {};
  OpenUnitFormat open_units = {};
  /// Units only: makes one file of those that hold the same rows. A list may name the result by
  /// several of them, and has it once.
  FileView view = {};

  /// Returns how the format sees these file systems.
  FileSystems files_of(const FileSystems& systems) const {
    return view ? systems.seen_through(view) : systems;
  }
};

/// The table that selects a format by its name. A value type. Any thread may call const functions.
class Formats {
 public:
  /// Builds the table of the built-in formats (formats.cpp).
  Formats();

  /// Adds a format, or replaces the format with its name.
  void add(FormatEntry entry);

  /// Returns the entry of `name`; kInvalid lists the names that there are.
  Result<FormatEntry> of(const std::string& name) const;

 private:
  std::vector<FormatEntry> entries_;
};

}  // namespace forebay
