#pragma once

#include <string>

#include "actors/loader_state.h"
#include "actors/source/file_index.h"
#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "tools/inspect/file_report.h"

namespace forebay {

// What the files say that Forebay itself wrote, and job files.

/// A loader's state: how far it got and what it is of.
FileReport report_state(const std::string& path, const LoaderState& state);

/// The index of one file, and whether that is still as it was indexed.
FileReport report_index(const std::string& path, const FileIndex& index);

/// A dataset's manifest, from its JSON text; kInvalid when it is none.
Result<FileReport> report_manifest(const std::string& path, const std::string& text);

/// A quarantine: how many rows for each reason and from each file. Reads it line by line.
Result<FileReport> report_quarantine(const std::string& path);

/// A job: its main settings as they are in effect.
FileReport report_job(const std::string& path, const JobSpec& job);

/// A damaged row's reason without the values in it: `column I3: "…" is not an integer`.
std::string kind_of_damage(const std::string& reason);

}  // namespace forebay
