#pragma once

#include <optional>
#include <string>
#include <vector>

namespace forebay::tuner {

/// A number of threads that was tried against the one that stood, and which stands now.
struct ThreadTrial {
  int before = 1;
  int tried = 1;
  double rate_before = 0;  ///< Medians of the windows, in rows/s of the whole job.
  double rate_tried = 0;
  bool kept = false;
};

/// Finds how many threads of its own a model should have: those with which the whole job, pipeline
/// and model on the same CPUs, trains most rows a second.
///
/// Climbs: measures what stands over some windows, tries one thread more or fewer, keeps it when it
/// is clearly faster, and rests once neither is. Each measurement leaves out its first windows, in
/// which batches of before are used up; a trial that is far slower ends after two more. While it
/// rests it looks at the rate: when that has changed for good, or after a long time (longer each
/// time nothing was gained), it tries again. Pure: told of a window, says what to use in the next.
/// Not thread-safe.
class ThreadSearch {
 public:
  struct Options {
    int start = 1;
    int most = 1;
    int settle = 2;         ///< Windows left out of a measurement,
    int windows = 4;        ///< and those in it.
    double gain = 0.03;     ///< What is tried is kept when it is faster by this share.
    double hopeless = 0.1;  ///< What is slower by this share is not tried to the end.
    double change = 0.15;   ///< A rate that differs by this share is another workload.
    int rest = 60;          ///< Windows before it tries again without a reason,
    int most_rest = 480;    ///< doubled up to this while nothing is gained.
  };

  explicit ThreadSearch(Options options);

  int threads() const { return using_; }
  bool rests() const { return phase_ == Phase::kRest; }

  /// What the window that ends now gave. A trial, when one has been decided.
  std::optional<ThreadTrial> add(double rows_per_second);

 private:
  enum class Phase { kStand, kTry, kRest };

  void begin(Phase phase, int threads);
  bool has_measured() const;
  /// The next of the neighbours that was not tried since something was kept; 0: none.
  int next_trial() const;
  std::optional<ThreadTrial> tried(double rate);
  void rested(double rate);
  void search_again();

  const Options options_;
  Phase phase_ = Phase::kStand;
  int stands_;
  int using_;
  int left_out_ = 0;
  std::vector<double> rates_ = {};  // of this measurement
  double current_rate_ = 0;
  bool more_failed_ = false;
  bool fewer_failed_ = false;
  double rest_rate_ = 0;  // as the rest began
  int rested_ = 0;
  int rest_;
};

}  // namespace forebay::tuner
