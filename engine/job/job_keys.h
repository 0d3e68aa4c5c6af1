#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "engine/job/job_document.h"
#include "engine/job/job_spec.h"

namespace forebay {

/// How the keys `pipeline.allocation.NAME` begin; a job's stages give the names.
inline constexpr std::string_view kAllocationKey = "pipeline.allocation.";

/// Reads every value of `document` outside `[[transform]]` into its member of `job`; members whose
/// keys are missing keep their values. Requires the job's stages. kInvalid names the first key that
/// is unknown, of another kind or outside its range, where it was written, and what is wanted or
/// the nearest known key.
Status read_keys(const JobDocument& document, JobSpec& job);

/// Reads one value into its member of `job`; if the key does not accept it, returns what the key
/// wants, to follow "must be". Requires a known key.
std::optional<std::string> read_key(std::string_view key, const ParamValue& value, JobSpec& job);

/// Returns the names of all keys outside `[[transform]]` and `[pipeline.allocation]`.
std::vector<std::string> job_key_names();

}  // namespace forebay
