#pragma once

#include <string>

#include "actors/loader_state.h"
#include "actors/source/index/file_index.h"
#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "tools/inspect/file_report.h"

namespace forebay {

// Reports on files that Forebay itself wrote, and on job files.

/// Reports on a loader's state: its position, and the settings of its job.
FileReport report_state(const std::string& path, const LoaderState& state);

/// Reports on the index of one file, and on whether the file changed since it was indexed.
FileReport report_index(const std::string& path, const FileIndex& index);

/// Reports on a dataset's manifest from its JSON text; kInvalid: not a manifest.
Result<FileReport> report_manifest(const std::string& path, const std::string& text);

/// Reports on a quarantine: the number of rows for each reason and of each file. Reads it line by
/// line.
Result<FileReport> report_quarantine(const std::string& path);

/// Reports on a job: its main settings with defaults.
FileReport report_job(const std::string& path, const JobSpec& job);

/// Returns a damaged row's reason without the values in it: `column I3: "…" is not an integer`.
std::string kind_of_damage(const std::string& reason);

}  // namespace forebay
