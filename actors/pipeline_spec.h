#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/enum_names.h"

namespace forebay {

/// `[dataset]` of the job file: what to read.
struct DatasetSpec {
  std::string format = "criteo_tsv";  ///< criteo_tsv | csv | parquet | npy
  std::vector<std::string> paths{};   ///< Files and globs, absolute or relative to the job file.
  std::uint64_t bad_rows = 0;         ///< Number of damaged rows tolerated.
  std::uint64_t max_row_bytes = 1 << 20;  ///< Indexing fails on a longer row.
  struct Csv {
    char delimiter = ',';
    bool header = true;
    std::string list_delimiter{};  ///< One character between the ids of a sparse field; "": one id.
  } csv{};
};

/// `[columns]` of the job file: the columns that the model sees, by name; globs are allowed.
struct ColumnSpec {
  std::string label{};
  std::vector<std::string> dense{};
  std::vector<std::string> sparse{};
  /// The label is 1 where the column is at least this, else 0; none: the column holds 0 or 1.
  std::optional<double> label_threshold{};
  std::string weight{};              ///< A factor for the row's loss; "": none.
  std::vector<std::string> extra{};  ///< For readers of batches, never for the model.
  /// Groups of dense and sparse columns whose values repeat together over neighbouring rows.
  std::vector<std::vector<std::string>> dedup{};
  /// Not a key: for a look at the label and the weight alone.
  bool without_features = false;
};

/// One value of an operator's parameter, as parsed from TOML.
using ParamValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                                std::vector<double>, std::vector<std::string>,
                                std::vector<std::vector<std::string>>>;

/// The operator that runs a user's function in Python; a stage of its own unless the job names one.
inline constexpr const char* kPythonOp = "python";

/// One `[[transform]]` of the job file: the operator, the columns (globs), its parameters, its
/// stage.
struct TransformSpec {
  std::string op;
  std::vector<std::string> columns;
  std::map<std::string, ParamValue> params;  ///< Every key but the others here.
  std::string stage = {};  ///< The stage that runs it; "": that of the operator before it.
};

/// A shuffled split of grains gives its rows to so many lanes, each of which fills the same part of
/// every batch (design/grains.md).
inline constexpr std::size_t kBatchLanes = 16;

/// `[order]` of the job file: the order of rows, and how they are cut into batches.
struct OrderSpec {
  enum class Shuffle : std::uint8_t {
    kAll,   ///< `true`: rows of the whole dataset are mixed.
    kFile,  ///< `"file"`: files in order, rows mixed inside each.
    kNone,  ///< `false`: rows in file order.
  };
  enum class Mode : std::uint8_t {
    kExact,    ///< The batch sequence is a function of (dataset, seed, epoch, batch size).
    kArrival,  ///< Splits are used as they arrive; each row is still used once.
  };

  /// `epochs` of a stream that its reader ends; the most that the key may be.
  static constexpr std::uint64_t kEndless = 1'000'000'000;

  std::uint64_t seed = 1;
  Shuffle shuffle = Shuffle::kAll;
  Mode mode = Mode::kExact;
  std::uint64_t epochs = 1;
  std::uint64_t batch_size = 8192;
  bool drop_last = false;
  /// The most bytes that a split of grains takes decoded (Dataset::in_grains). Part of the order.
  std::uint64_t shuffle_memory = std::uint64_t{256} << 20;
};

inline constexpr EnumName<OrderSpec::Shuffle> kShuffleNames[] = {
    {"true", OrderSpec::Shuffle::kAll},
    {"file", OrderSpec::Shuffle::kFile},
    {"false", OrderSpec::Shuffle::kNone}};
inline constexpr EnumName<OrderSpec::Mode> kOrderModeNames[] = {
    {"exact", OrderSpec::Mode::kExact}, {"arrival", OrderSpec::Mode::kArrival}};

/// `pipeline.fuse` of the job file: which stages one actor does in one go (StageGroups).
struct FuseSpec {
  enum class How : std::uint8_t {
    kAuto,    ///< `"auto"`: what is fastest, where the tuner decides how many actors there are.
    kNever,   ///< `false`
    kListed,  ///< `[["load", "decode"], …]`
  };
  How how = How::kAuto;
  std::vector<std::vector<std::string>> groups = {};  ///< kListed: the names of stages.
};

/// `[pipeline]` of the job file: the resources that the pipeline may use.
struct PipelineSpec {
  int cpus = 1;                    ///< CPUs the process may use.
  std::uint64_t memory_bytes = 0;  ///< Hard limit on resident memory; 0: half of what is available.
  std::uint64_t prefetch_bytes =
      0;  ///< Finished batches that may wait; 0: chosen from memory_bytes.
  std::vector<std::uint32_t> actors;  ///< For each stage, at the start.
  bool optimize = true;  ///< Whether operators may run in another order (TransformPlan).
  FuseSpec fuse = {};

  std::uint64_t total_actors() const {
    return std::accumulate(actors.begin(), actors.end(), std::uint64_t{0});
  }
};

}  // namespace forebay
