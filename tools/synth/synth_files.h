#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay {

/// The AUC of click probabilities against the labels drawn from them, from one counter per
/// millionth: rows need not be kept.
class AucHistogram {
 public:
  AucHistogram() : clicks_(kBins), others_(kBins) {}

  void add(double chance, bool click) {
    const auto bin = static_cast<std::size_t>(chance * (kBins - 1));
    ++(click ? clicks_ : others_)[bin];
  }

  /// Returns the probability that a click had a higher click probability than another row, equal
  /// ones counted half; nullopt if there were no clicks or no other rows.
  std::optional<double> auc() const;

 private:
  static constexpr std::size_t kBins = 1 << 20;

  std::vector<std::uint64_t> clicks_;
  std::vector<std::uint64_t> others_;
};

/// Arguments of `forebay synth criteo`.
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
      /// AUC of the probabilities from which the labels were drawn: no model can exceed it.
      best_auc;
};

/// Creates the folder, locks it until the returned descriptor is closed, and checks that these
/// files can be made in it: kInvalid names `--out`, or a file that exists and may not be replaced.
Result<Descriptor> hold_new_files(const std::string& folder, const std::vector<std::string>& files,
                                  SynthSpec::Existing existing);

/// Checks the numbers, then does the same for the files of `spec`.
Result<Descriptor> hold_synth(const SynthSpec& spec);

/// Returns the files that `spec` names; each has the suffix kAside while it is written.
std::vector<std::string> synth_files(const SynthSpec& spec);

/// Returns the files of an earlier run with more files, which this one leaves.
std::vector<std::string> older_files(const SynthSpec& spec);

/// Writes day_0.tsv, day_1.tsv, … with the rows divided evenly; the same spec gives the same bytes.
/// Each file is written to a temporary name and renamed. `progress` is called now and then with the
/// rows written; if it returns false, the work ends with kUnavailable. A full disk is kUnavailable
/// and leaves no partial file.
Result<SynthResult> write_synth(const SynthSpec& spec,
                                const std::function<bool(std::uint64_t rows)>& progress);

}  // namespace forebay
