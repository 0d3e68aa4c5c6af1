#pragma once

#include <optional>

#include "tools/inspect/file_report.h"
#include "tools/inspect/file_sample.h"

namespace forebay {

/// Reports on a Criteo file; nullopt if fewer than half of its first rows are valid.
std::optional<FileReport> report_criteo(const FileSample& sample);

/// Reports on a CSV file or a dump of `ingest --dump`; nullopt if it is not a table.
std::optional<FileReport> report_table(const FileSample& sample);

}  // namespace forebay
