#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/model.h"

namespace forebay {

/// Rows per second that a model trains on, with batches from a pipeline and with one repeated
/// batch.
struct TrainBench {
  double fed = 0;
  double cached = 0;

  double ratio() const { return cached > 0 ? fed / cached : 0; }
};

/// The plan of `bench_training`. In each turn the first `settle` steps are not measured: batches
/// that the source prepared between its turns would flatter it, and preparing them slows the other
/// turn.
struct TrainBenchPlan {
  std::uint64_t turns = 7;  ///< At least 1.
  std::uint64_t settle = 10;
  std::uint64_t steps = 18;  ///< Measured steps of each turn.
  std::size_t ahead = 0;  ///< Batches announced to the model beyond the next one; 0: none at all.
};

/// Alternates between batches of `source` and its first batch repeated, so that other load on the
/// machine affects both alike; returns the turn whose ratio is the median. Returns an error if the
/// source has too few batches for the plan.
Result<TrainBench> bench_training(Model& model, BatchSource& source, const Clock& clock,
                                  const TrainBenchPlan& plan);

/// Batches whose ids follow Zipf's law over each feature's table; frequent ids are spread over the
/// table. A function of the seed and the number.
class ZipfBatches {
 public:
  struct Options {
    std::size_t features = 26;
    std::size_t dense = 13;
    std::size_t rows = 8192;
    std::int64_t table_rows = std::int64_t{1} << 20;  ///< A power of two.
    double exponent = 1.05;
    std::uint64_t seed = 1;
  };
  explicit ZipfBatches(const Options& options);

  std::shared_ptr<const Batch> make(std::uint64_t number) const;

 private:
  const Options options_;
  std::vector<double> below_;  ///< The probability of a rank up to this one.
};

/// The plan for comparing two models that differ in the storage of their tables.
struct TableBenchPlan {
  ZipfBatches::Options batches;
  std::uint64_t settle = 40;  ///< Steps of the tiers before the first turn, to fill their memory.
  std::uint64_t turns = 3;
  std::uint64_t uncounted = 2;  ///< Steps of a turn before its measurement starts.
  std::uint64_t steps = 12;     ///< Measured steps.
  std::size_t ahead = 7;        ///< Batches announced beyond the next one.
};

/// Called with the progress: the finished part, and the rows a second in tiers and in memory (0:
/// not measured yet).
using TableBenchReport = std::function<void(const std::string& done, double tiers, double memory)>;

/// Rows a second, medians of the turns; `ready` is the share of the tiers' lookups whose row was in
/// memory.
struct TableBench {
  double memory = 0;
  double tiers = 0;
  double ratio = 0;
  double ready = 0;
};

/// Trains both models in turns, on the same batches.
Result<TableBench> bench_tables(Model& memory, Model& tiers, const Clock& clock,
                                const TableBenchPlan& plan, const TableBenchReport& report);

}  // namespace forebay
