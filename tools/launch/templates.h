#pragma once

#include <span>
#include <string_view>

namespace forebay {

/// A file of tools/launch/templates, compiled into the program.
struct LaunchTemplate {
  std::string_view name;  ///< Path below that folder: `slurm/job.sbatch`.
  std::string_view text;
};

/// Returns all templates, by name.
std::span<const LaunchTemplate> launch_templates();

}  // namespace forebay
