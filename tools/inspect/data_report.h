#pragma once

#include <optional>

#include "tools/inspect/file_report.h"
#include "tools/inspect/file_sample.h"

namespace forebay {

/// What a Criteo file holds; nothing when fewer than half of its first rows are sound.
std::optional<FileReport> report_criteo(const FileSample& sample);

/// What a CSV file, or a dump of `ingest --dump`, holds; nothing when it is no table.
std::optional<FileReport> report_table(const FileSample& sample);

}  // namespace forebay
