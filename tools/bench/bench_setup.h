#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/source/dataset.h"
#include "core/base/clock.h"
#include "core/base/median.h"
#include "core/base/result.h"
#include "core/data/schema.h"
#include "trainer/spec.h"
#include "trainer/train_bench.h"

namespace forebay {

/// Measures the time since it was made.
class Stopwatch {
 public:
  double seconds() const { return in_seconds(clock_.now() - began_); }

 private:
  SystemClock clock_;
  std::chrono::nanoseconds began_ = clock_.now();
};

/// The values that a benchmark measures in its rounds, by name.
class Measurements {
 public:
  void add(const std::string& name, double value) { values_[name].push_back(value); }
  Status add(const std::string& name, const Result<double>& value);

  bool has(const std::string& name) const { return values_.contains(name); }
  /// Returns the median of a measured value.
  double operator[](const std::string& name) const { return median(values_.at(name)); }

 private:
  std::map<std::string, std::vector<double>> values_;
};

/// Calls `measure` for each round until it fails; kUnavailable if a stop was requested.
Status each_round(int rounds, const std::function<Status()>& measure);

/// A benchmark's temporary folder below TMPDIR; removed with this object.
class BenchFolder {
 public:
  static Result<BenchFolder> make();
  BenchFolder(BenchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  BenchFolder& operator=(BenchFolder&&) = delete;
  ~BenchFolder();

  const std::string& path() const { return path_; }

 private:
  explicit BenchFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

/// Makes a folder with made-up Criteo files; prints on stderr where. kUnavailable: the disk is
/// full, or a stop was requested.
Result<BenchFolder> made_up_rows(std::uint64_t rows);

Result<std::unique_ptr<Dataset>> open_made_up(const BenchFolder& data);

/// Writes a job on made-up files with the transforms of the published figures: log1p on the
/// integers, sigrid_hash up to `ids` on the tokens. `settings` are tables in TOML. Returns its
/// path.
Result<std::string> write_job(const BenchFolder& data, std::uint64_t ids,
                              const std::string& settings);

/// Returns the DLRM that benchmarks train: tables of dimension 32, one thread; the default MLPs if
/// `small_network`, else those of Naumov et al. 2019 for the Criteo Kaggle data.
TrainerSpec bench_model(std::int64_t table_rows, bool small_network);

/// Returns the columns of these batches, named as Criteo's.
Schema schema_of(const ZipfBatches::Options& batches);

}  // namespace forebay
