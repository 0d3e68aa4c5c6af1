#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/result.h"
#include "core/data/most_ids.h"
#include "core/data/schema.h"

namespace forebay {

/// `[trainer]` of the job file: the model, its training, and the files it keeps.
struct TrainerSpec {
  enum class ModelKind : std::uint8_t {
    kDlrm,      ///< Naumov et al. 2019, "Deep Learning Recommendation Model".
    kDcnV2,     ///< Wang et al. 2021, "DCN V2", low-rank, as MLPerf's DLRM-DCNv2.
    kWideDeep,  ///< Cheng et al. 2016, "Wide & Deep Learning".
    kDeepFm,    ///< Guo et al. 2017, "DeepFM".
    kEmulated,  ///< Waits `step` per batch.
    kNone,      ///< Takes batches and does nothing.
  };
  enum class Optimizer : std::uint8_t { kSgd, kAdagrad, kAdam };
  /// Of the operands of the network's matrix products.
  enum class Precision : std::uint8_t {
    kFp32,  ///< float32, as everything else.
    kBf16,  ///< bfloat16 in layers of at least 16 inputs and outputs, of which sums are float32.
  };
  enum class Auc : std::uint8_t {
    kAuto,
    kExact,
    kStreaming
  };  ///< See trainer/evaluation/evaluation.h.
  enum class Metric : std::uint8_t { kLogLoss, kAuc };
  enum class TableOptimizer : std::uint8_t {
    kAsDense,  ///< As `optimizer`; rowwise_adagrad if rows do not support that one.
    kSgd,
    kAdagrad,
    kRowwiseAdagrad,  ///< One value of state a row: the sum of its gradients' mean squares.
  };
  enum class Pooling : std::uint8_t { kSum, kMean };
  /// The location of tables when several ranks train; see trainer/ranks/placement.h.
  enum class Placement : std::uint8_t {
    kAuto,        ///< By size.
    kTable,       ///< Each table on one rank.
    kRow,         ///< Each rank has a range of every table's rows.
    kReplicated,  ///< Every rank has every table.
  };
  enum class Storage : std::uint8_t {
    kMemory,  ///< Every row in memory.
    kHashed,  ///< Rows for ids that were seen often enough.
    kTiered,  ///< Hot rows in memory, the rest on the disk.
  };

  /// `[trainer.tables]`: storage of the rows of the embedding tables.
  struct Tables {
    /// How a snapshot of kTiered is written.
    enum class Snapshot : std::uint8_t {
      kLinked,  ///< Rows that are in memory, and links to files.
      kWhole,   ///< Row after row, as tables in memory: it can be merged with those of other ranks.
    };
    Storage storage = Storage::kMemory;
    std::uint64_t memory_bytes = 0;         ///< Of kTiered: for rows and their index.
    std::string folder = {};                ///< Of kTiered: for the other rows.
    Snapshot snapshot = Snapshot::kLinked;  ///< Of kTiered; not in the job file.
    int admit_after = 2;            ///< Of kHashed: occurrences before an id has its own row.
    std::uint64_t evict_after = 0;  ///< Of kHashed: steps unseen before a row is evicted; 0: never.
    std::uint64_t device_memory_bytes = 0;  ///< For rows on the device; 0: as many as in memory.
    Placement placement = Placement::kAuto;
  };

  ModelKind model = ModelKind::kDlrm;
  std::chrono::nanoseconds step = std::chrono::milliseconds(20);  ///< Of the emulated model.
  std::string device = "cpu";  ///< "cpu", or libtorch's name: "cuda", "cuda:1".
  int threads = 0;             ///< Of the model; 0: from `pipeline.cpus`.
  bool deterministic = true;   ///< The same bits for the same batches, for any `threads`.
  std::uint64_t seed = 1;      ///< Of the initial weights.
  Optimizer optimizer = Optimizer::kAdagrad;
  double learning_rate = 0.01;
  std::uint64_t warmup_steps = 0;  ///< Over which the learning rate rises (learning_rate_at).
  std::uint64_t decay_start = 0;   ///< The step from which it falls, over `decay_steps`.
  std::uint64_t decay_steps = 0;   ///< 0: it does not fall.
  double clip_norm = 0;            ///< The largest norm of all gradients together; 0: no limit.
  TableOptimizer table_optimizer = TableOptimizer::kAsDense;
  Pooling pooling = Pooling::kSum;  ///< Of the vectors of a list.
  Precision precision = Precision::kFp32;
  Tables tables;
  int embedding_dim = 16;
  std::vector<int> bottom_mlp;  ///< Layer widths, the last embedding_dim; empty: 64, embedding_dim.
                                ///< Of dlrm and dcn_v2 only.
  std::vector<int> top_mlp;     ///< Layer widths, the last 1; empty: 64, 1. The deep part's of
                                ///< wide_deep and deepfm.
  int cross_layers = 3;         ///< For dcn_v2.
  int cross_rank = 64;          ///< For dcn_v2: the inner width of a cross layer's weights.
  std::int64_t max_table_rows = 65536;  ///< A table's rows: the feature's bound, at most this many;
                                        ///< ids are folded into them by their positive modulus.
  std::chrono::nanoseconds rank_timeout = std::chrono::seconds(30);  ///< For a rank to take part.
  std::string checkpoint = "checkpoints";  ///< A directory; relative to the job file; "": none.
  std::chrono::nanoseconds checkpoint_every = std::chrono::minutes(5);
  std::uint64_t checkpoint_steps = 0;  ///< Also after batches that it divides; 0: not by number.
  int keep = 2;                        ///< Number of checkpoints kept.
  std::vector<std::string> evaluate;   ///< Files and globs, as in `dataset.paths`.
  double evaluate_share = 0;           ///< Share of the rows held out, in [0, 1).
  std::uint64_t evaluate_every = 0;    ///< In steps since the job's start; 0: only at the end.
  Auc evaluate_auc = Auc::kAuto;
  std::uint64_t early_stopping = 0;  ///< Ends after so many evaluations without gain; 0: never.
  Metric early_stopping_metric = Metric::kLogLoss;
  std::string tensorboard;  ///< A directory for event files; relative to the job file; "": none.
  std::string csv;          ///< A file with a line every `log_every` steps; "": none.
  std::uint64_t log_every = 100;  ///< Steps between two lines of either.
};

/// The names of the values above in job files, checkpoints and reports.
inline constexpr EnumName<TrainerSpec::ModelKind> kModelNames[] = {
    {"dlrm", TrainerSpec::ModelKind::kDlrm},          {"dcn_v2", TrainerSpec::ModelKind::kDcnV2},
    {"wide_deep", TrainerSpec::ModelKind::kWideDeep}, {"deepfm", TrainerSpec::ModelKind::kDeepFm},
    {"emulated", TrainerSpec::ModelKind::kEmulated},  {"none", TrainerSpec::ModelKind::kNone}};
inline constexpr EnumName<TrainerSpec::Optimizer> kOptimizerNames[] = {
    {"sgd", TrainerSpec::Optimizer::kSgd},
    {"adagrad", TrainerSpec::Optimizer::kAdagrad},
    {"adam", TrainerSpec::Optimizer::kAdam}};
/// kAsDense has no name in a job file: it is what holds without the key.
inline constexpr EnumName<TrainerSpec::TableOptimizer> kTableOptimizerNames[] = {
    {"sgd", TrainerSpec::TableOptimizer::kSgd},
    {"adagrad", TrainerSpec::TableOptimizer::kAdagrad},
    {"rowwise_adagrad", TrainerSpec::TableOptimizer::kRowwiseAdagrad}};
inline constexpr EnumName<TrainerSpec::Pooling> kPoolingNames[] = {
    {"sum", TrainerSpec::Pooling::kSum}, {"mean", TrainerSpec::Pooling::kMean}};
inline constexpr EnumName<TrainerSpec::Precision> kPrecisionNames[] = {
    {"fp32", TrainerSpec::Precision::kFp32}, {"bf16", TrainerSpec::Precision::kBf16}};
inline constexpr EnumName<TrainerSpec::Storage> kStorageNames[] = {
    {"memory", TrainerSpec::Storage::kMemory},
    {"hashed", TrainerSpec::Storage::kHashed},
    {"tiered", TrainerSpec::Storage::kTiered}};

/// Whether a model of this kind has weights, a loss and scores.
bool learns(TrainerSpec::ModelKind kind);

/// Whether the spec's model runs on a GPU.
bool runs_on_gpu(const TrainerSpec& spec);

/// The optimizer of the tables; never kAsDense.
TrainerSpec::TableOptimizer table_optimizer(const TrainerSpec& spec);

/// Number of state values of a row of `width` weights.
std::size_t state_width(TrainerSpec::TableOptimizer optimizer, std::size_t width);

/// The extents of a model: the widths of a batch and the rows of each embedding table.
struct ModelShape {
  TrainerSpec::ModelKind network = TrainerSpec::ModelKind::kDlrm;
  std::size_t dense_features = 0;
  std::vector<std::int64_t> table_rows = {};  ///< Per sparse feature.
  /// Names of columns; empty if no messages need them.
  std::vector<std::string> dense_names = {};
  std::vector<std::string> sparse_names = {};  ///< One per table; may be empty as well.
  /// The features of `table_rows`, if not all tables are made; empty: all.
  std::vector<std::size_t> table_features = {};
  /// For parts of tables: the number of the first row in the whole table, and the whole table's
  /// rows.
  std::vector<std::int64_t> table_first = {};
  std::vector<std::int64_t> table_whole = {};
  std::vector<int> bottom_mlp = {};  ///< Widths after the input; the last is the embedding_dim.
  std::vector<int> top_mlp = {};     ///< Widths after the input; the last is 1.
  int embedding_dim = 0;
  int cross_layers = 0;
  int cross_rank = 0;
  bool weighted = false;  ///< Whether batches have weights; only memory depends on it.

  bool operator==(const ModelShape&) const = default;

  /// Width of the bottom MLP's input; without dense features the input is a constant 1.
  std::size_t bottom_input() const { return dense_features == 0 ? 1 : dense_features; }
  /// Whether ids have a weight of their own beside their vector (the linear part of wide_deep and
  /// deepfm), and there is no bottom MLP.
  bool is_wide() const;
  /// Values of a table's row: the vector, followed by that weight.
  std::size_t row_width() const {
    return static_cast<std::size_t>(embedding_dim) + (is_wide() ? 1 : 0);
  }
  /// Width of the top MLP's input.
  std::size_t top_input() const;
  /// Number of parameters outside the tables.
  std::uint64_t dense_parameters() const;
  std::uint64_t all_table_rows() const {
    return static_cast<std::uint64_t>(
        std::accumulate(table_rows.begin(), table_rows.end(), std::int64_t{0}));
  }
  std::uint64_t table_parameters() const { return all_table_rows() * row_width(); }
};

/// A batch is trained in this many shares, for any number of threads, so that sums are made in one
/// order and the bits do not depend on the threads; a share is processed in groups of rows that
/// stay in a core's cache.
inline constexpr std::size_t kModelShares = 16;
inline constexpr std::size_t kModelGroupRows = 256;

/// The most batches whose rows are prepared ahead of the model.
inline constexpr std::size_t kMostExpectedBatches = 8;

/// The most batches that a model has on a device at a time; one more may be scored.
inline constexpr std::size_t kMostStagedBatches = 4;

/// Returns the shape of the model of `spec` over batches of `schema`; the error names an invalid
/// key.
Result<ModelShape> shape_of(const TrainerSpec& spec, const Schema& schema);

/// Memory for the copies that tables make while a snapshot is read: the bytes of a slot, and the
/// most bytes in all.
std::size_t copy_slot_bytes(const ModelShape& shape);
std::size_t copy_room_bytes(const ModelShape& shape);

/// How many copies of each parameter of the network the optimizer has: the parameter and its state.
std::uint64_t dense_copies(TrainerSpec::Optimizer optimizer);

/// Bytes of one row of a table and of its optimizer state.
std::uint64_t table_row_bytes(const TrainerSpec& spec, const ModelShape& shape);

/// Bytes of the embedding tables in memory, with the optimizer's state and the index of the rows.
std::uint64_t table_bytes(const TrainerSpec& spec, const ModelShape& shape);

/// The most rows of the tables that so many batches name in all.
std::uint64_t touched_rows(const ModelShape& shape, const MostIds& ids, std::uint64_t batches = 1);

/// Working memory of a RowFinder; with a team each feature has a hash table of its own.
std::uint64_t finder_bytes(const ModelShape& shape, const MostIds& ids, bool has_team);

/// The most bytes that the model takes while it trains on batches of `batch_size` rows with at most
/// `ids` sparse ids: weights, optimizer state, gradients and activations of one batch,
/// and the copies made while a checkpoint is written; with a device also the host's memory for it
/// (trainer/device_memory.h). Does not include libtorch itself. 0 for models that do not learn.
std::uint64_t model_bytes(const TrainerSpec& spec, const ModelShape& shape,
                          std::uint64_t batch_size, const MostIds& ids);

/// The learning rate of the step on batch `number`, which counts from 0 over the whole job: rises
/// to `learning_rate` over the first `warmup_steps` steps, and from step `decay_start` on falls to
/// 0 over `decay_steps` with the square of the remaining share (MLPerf's DLRM). A function of the
/// number alone, so that a resumed run continues unchanged.
inline double learning_rate_at(const TrainerSpec& spec, std::uint64_t number) {
  double rate = spec.learning_rate;
  if (number < spec.warmup_steps) {
    rate *= static_cast<double>(number + 1) / static_cast<double>(spec.warmup_steps);
  }
  if (spec.decay_steps > 0 && number > spec.decay_start) {
    const std::uint64_t gone = std::min(number - spec.decay_start, spec.decay_steps);
    const double left =
        static_cast<double>(spec.decay_steps - gone) / static_cast<double>(spec.decay_steps);
    rate *= left * left;
  }
  return rate;
}

/// Returns the key of an id in a table of `rows` rows: its positive modulus; 0 rows: the id itself.
inline std::int64_t fold(std::int64_t id, std::int64_t rows) {
  if (rows == 0) return id;
  if ((rows & (rows - 1)) == 0) return id & (rows - 1);
  if (id >= 0 && id < rows) return id;
  const std::int64_t rest = id % rows;
  return rest < 0 ? rest + rows : rest;
}

}  // namespace forebay
