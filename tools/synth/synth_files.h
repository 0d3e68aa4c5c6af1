#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// What `forebay synth criteo` writes.
struct SynthSpec {
  enum class Existing : std::uint8_t { kRefuse, kReplace };

  std::uint64_t rows = 0;
  std::uint64_t files = 1;
  std::uint64_t seed = 1;
  std::string folder;
  Existing existing = Existing::kRefuse;
};

struct SynthResult {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
  std::optional<double>
      best_auc;  ///< Of the chances the labels were drawn by: nothing can beat it.
};

/// Whether the files can be written: kInvalid names the option or the file that stands in the way.
Status check_synth(const SynthSpec& spec);

/// The files that it names, and what is added to each while it is written.
std::vector<std::string> synth_files(const SynthSpec& spec);
inline constexpr char kSynthAside[] = ".part";

/// Writes day_0.tsv, day_1.tsv, … with the rows divided evenly; the same spec gives the same bytes.
/// Each file is written aside and renamed. `progress` is called with the rows written, now and
/// then; false from it ends the work with kUnavailable. A full disk is kUnavailable and leaves no
/// part of a file.
Result<SynthResult> write_synth(const SynthSpec& spec,
                                const std::function<bool(std::uint64_t rows)>& progress);

}  // namespace forebay
