#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "tools/doctor/finding.h"
#include "tools/doctor/torch_probe.h"

namespace forebay {

/// Whether a command will train, so that missing training software is a problem.
enum class Training : std::uint8_t { kMaybe, kWanted, kNo };

/// Checks CPUs and memory, against the needs of `job` if it is given, and the vector instructions.
std::vector<Finding> check_machine(const std::optional<JobSpec>& job);

/// Checks libtorch and the BLAS that it loaded.
std::vector<Finding> check_torch(const Result<TorchProbe>& probe, Training training);

/// Checks whether files can be written under `path`, which need not exist yet, and how many bytes
/// are free on its disk. `key` is the setting that gives the path.
Finding check_writable_path(const std::string& name, const std::string& key,
                            const std::string& path);

/// Returns the bytes available to this user on the disk of `path`, or of its nearest existing
/// parent folder.
std::uint64_t free_bytes(const std::string& path);

/// Checks whether `wanted` files may be open at once.
Finding check_open_files(std::uint64_t wanted);

}  // namespace forebay
