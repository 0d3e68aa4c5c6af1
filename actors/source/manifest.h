#pragma once

#include <string>
#include <vector>

#include "actors/source/dataset.h"
#include "core/base/result.h"
#include "core/data/digest.h"

namespace forebay {

/// Writes the dataset's files (name, bytes, digest) to `run_dir/index/dataset-FINGERPRINT.json`, so
/// that a later run can report the changed files.
Status write_manifest(const std::string& run_dir, const Dataset& dataset);

/// Returns the differences of `dataset` from the dataset with the fingerprint `before`, one line
/// per file: "day_1.tsv has other content", "day_2.tsv is gone", "day_3.tsv was added". If only the
/// order differs, returns one line that says so. kNotFound when `run_dir` has no readable manifest
/// of `before`.
Result<std::vector<std::string>> changed_files(const std::string& run_dir, const Digest& before,
                                               const Dataset& dataset);

}  // namespace forebay
