#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "actors/format/column_choice.h"
#include "actors/format/format.h"

namespace forebay {

/// The description of a CSV dataset that its decoder needs.
struct CsvLayout {
  char delimiter = ',';
  std::string list_delimiter;      ///< Between the ids of a sparse field; "": one id a field.
  std::vector<std::string> names;  ///< Of every column of the file.
  ColumnChoice choice;
};

/// Parses a split of CSV rows; see Format::decode. Pure; any thread.
Decoded decode_csv(const RawSplit& raw, const CsvLayout& layout, const DecodeOptions& options,
                   BufferPool& pool);

/// See Format::decoded_bytes.
std::size_t decoded_csv_bytes(const CsvLayout& layout, std::size_t rows, std::size_t raw_bytes);

}  // namespace forebay
