#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace forebay {

/// A file of tools/launch/templates, compiled into the program.
struct LaunchTemplate {
  std::string_view name;  ///< Path below that folder: `slurm/job.sbatch`.
  std::string_view text;
};

/// Returns all templates, by name.
std::span<const LaunchTemplate> launch_templates();

/// The value of each name in a template.
using Blanks = std::map<std::string, std::string, std::less<>>;

/// Returns `text` with each `@NAME@` replaced (capitals and underscores). Lines between `#@if NAME`
/// and
/// `#@end` stay only if the name's value is not empty; after an `#@else` between them, only if it
/// is empty. Conditions nest. A name without a value is a bug of the template and aborts.
std::string fill(std::string_view text, const Blanks& blanks);

/// Returns `text` as a YAML double-quoted scalar.
std::string yaml_text(std::string_view text);

/// Returns `text` with `spaces` blanks before every line that is not empty: a YAML block's content.
std::string indented(std::string_view text, std::size_t spaces);

/// Returns RFC 4648 base64 with padding.
std::string base64(std::string_view bytes);

}  // namespace forebay
