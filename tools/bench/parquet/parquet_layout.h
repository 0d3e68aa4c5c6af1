#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/output/chunk_encoder.h"
#include "actors/pipeline_spec.h"
#include "core/base/result.h"
#include "tools/bench/bench_setup.h"

namespace forebay {

/// A kind of Parquet file, and what a job wants of it. The columns of `wanted` are full names.
struct BenchLayout {
  std::string name;
  std::vector<parquet::OutputColumn> columns;
  /// Columns of text behind the others: decimal numbers, 223 of them in a dictionary.
  std::vector<std::string> texts = {};
  std::size_t group_rows = 0;
  ColumnSpec wanted = {};
};

/// MLPerf Storage's workload `dlrm`: 200 columns of 1 to 8 bytes, 760 bytes a row, in groups of
/// 6,144 rows; 40 columns are wanted.
BenchLayout dlrm_layout();
/// Twenty columns of that layout, and all of them.
ColumnSpec tenth_of_dlrm();
ColumnSpec all_of_dlrm();
/// Like the public table of flights: a time that hardly changes from row to row, a delay, a
/// distance and two airports as text, all in dictionaries and nullable, in groups of 262,144 rows.
BenchLayout flights_layout();
/// Four lists of 0 to 30 ids a row.
BenchLayout lists_layout();

/// Files of a layout.
struct WrittenLayout {
  BenchFolder folder;
  std::uint64_t wanted_bytes = 0;  ///< Of the wanted columns' chunks, dictionaries included.
};

/// Writes `rows` rows or a few more in four files: the same few groups again and again.
/// kUnavailable: the disk is full.
Result<WrittenLayout> write_layout(const BenchLayout& layout, std::uint64_t rows);

}  // namespace forebay
