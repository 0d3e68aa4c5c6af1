#pragma once

#include <string>
#include <vector>

#include "actors/source/dataset.h"
#include "core/base/result.h"
#include "core/data/digest.h"

namespace forebay {

/// Writes down the dataset's files (name, bytes, digest) as
/// `run_dir/index/dataset-FINGERPRINT.json`, so that a later run can say what changed.
Status write_manifest(const std::string& run_dir, const Dataset& dataset);

/// What differs in `dataset` from the one that had the fingerprint `before`, a line a file:
/// "day_1.tsv has other content", "day_2.tsv is gone", "day_3.tsv was added", or that the files
/// come in another order. kNotFound when nobody wrote that one down in `run_dir`.
Result<std::vector<std::string>> changed_files(const std::string& run_dir, const Digest& before,
                                               const Dataset& dataset);

}  // namespace forebay
