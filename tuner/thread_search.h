#pragma once

#include <optional>
#include <vector>

namespace forebay::tuner {

/// A number of threads that was tried against the current one, and the number in use afterwards.
struct ThreadTrial {
  int before = 1;
  int tried = 1;
  double rate_before =
      0;  ///< Medians of the windows, in any one unit, such as rows/s of the whole job.
  double rate_tried = 0;
  bool kept = false;
};

/// Finds how many threads a model should use: the number with which the whole job, pipeline and
/// model on the same CPUs, trains the most rows a second.
///
/// Hill climbing: measures the current number over some windows, tries one thread more or fewer,
/// keeps it if it is clearly faster, and rests once neither is. Each measurement skips its first
/// windows, in which earlier batches are used up; a trial that is far slower ends after two more.
/// While resting it watches the rate: if that has changed for good, or after a long time (longer
/// after each search without a gain), it tries again. Pure: receives each window's rate and returns
/// the number for the next. Not thread-safe.
class ThreadSearch {
 public:
  struct Options {
    int start = 1;
    int most = 1;
    int settle = 2;         ///< Windows skipped at the start of a measurement.
    int windows = 4;        ///< Windows of a measurement.
    double gain = 0.03;     ///< A trial is kept if it is faster by this share.
    double hopeless = 0.1;  ///< A trial that is slower by this share ends early.
    double change = 0.15;   ///< A rate that differs by this share means another workload.
    int rest = 60;          ///< Windows before it tries again without a reason.
    int most_rest = 480;    ///< The rest doubles up to this while nothing is gained.
  };

  explicit ThreadSearch(Options options);

  int threads() const { return using_; }
  /// Returns the number that is not on trial.
  int settled() const { return stands_; }
  bool tries() const { return phase_ == Phase::kTry; }
  bool rests() const { return phase_ == Phase::kRest; }

  /// Tries no number above `most` from now on; one that is on trial stays. Where more may be tried
  /// than before, a rest ends.
  void allow(int most);
  /// Discards the windows of this measurement and gives up a trial: something else has changed.
  void interrupt();

  /// Adds the rate of the window that ends now. Returns a trial when one has been decided.
  std::optional<ThreadTrial> add(double rate_of_window);

 private:
  enum class Phase { kStand, kTry, kRest };

  void begin(Phase phase, int threads);
  bool has_measured() const;
  /// The next neighbour that was not tried since a trial was kept; 0: none.
  int next_trial() const;
  std::optional<ThreadTrial> tried(double rate);
  void rested(double rate);

  const Options options_;
  int most_;
  Phase phase_ = Phase::kStand;
  int stands_;
  int using_;
  int left_out_ = 0;
  std::vector<double> rates_ = {};  // of this measurement
  double current_rate_ = 0;
  bool more_failed_ = false;
  bool fewer_failed_ = false;
  double rest_rate_ = 0;  // rate when the rest began
  int rested_ = 0;
  int rest_;
};

}  // namespace forebay::tuner
