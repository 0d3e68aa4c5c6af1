#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/input/store/transfer/range_plan.h"
#include "actors/pipeline_spec.h"
#include "core/base/result.h"

namespace forebay {

/// Parquet files, and what a job wants of them.
struct DlrmFiles {
  std::vector<std::string> dense;
  std::vector<std::string> sparse;
  std::uint64_t rows = 0;
  std::vector<std::vector<Wanted>> groups;  ///< The wanted chunks of each row group.

  std::uint64_t wanted_bytes() const;
};

/// Writes four files in the layout of MLPerf Storage's workload `dlrm` into `folder`: 200 columns
/// of 1 to 8 bytes in no order beside the label, 760 bytes a row, row groups of 6,144 rows; 40
/// columns here and there are wanted, two thirds of them floats of 4 bytes. At least `rows` rows.
Result<DlrmFiles> write_dlrm_files(const std::string& folder, std::uint64_t rows);

}  // namespace forebay
