#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/data/schema.h"

namespace forebay {

/// `[trainer]` of the job file: what is trained, how, and what is kept.
struct TrainerSpec {
  enum class ModelKind : std::uint8_t {
    kDlrm,      ///< Naumov et al. 2019, "Deep Learning Recommendation Model".
    kDcnV2,     ///< Wang et al. 2021, "DCN V2", low-rank, as MLPerf's DLRM-DCNv2.
    kWideDeep,  ///< Cheng et al. 2016, "Wide & Deep Learning".
    kDeepFm,    ///< Guo et al. 2017, "DeepFM".
    kEmulated,  ///< Waits `step` a batch.
    kNone,      ///< Takes batches and does nothing.
  };
  enum class Optimizer : std::uint8_t { kSgd, kAdagrad, kAdam };
  enum class Auc : std::uint8_t { kAuto, kExact, kStreaming };  ///< See trainer/evaluation.h.
  enum class Metric : std::uint8_t { kLogLoss, kAuc };
  enum class TableOptimizer : std::uint8_t {
    kAsDense,  ///< Whatever `optimizer` is; rowwise_adagrad where rows cannot have it.
    kSgd,
    kAdagrad,
    kRowwiseAdagrad,  ///< One value of state a row: the sum of its gradients' mean squares.
  };
  enum class Pooling : std::uint8_t { kSum, kMean };
  /// Where tables are when several ranks train; see trainer/ranks/placement.h.
  enum class Placement : std::uint8_t {
    kAuto,        ///< By size.
    kTable,       ///< Each table at one rank.
    kRow,         ///< Each rank has a range of every table's rows.
    kReplicated,  ///< Every rank has every table.
  };
  enum class Storage : std::uint8_t {
    kMemory,  ///< Every row in memory.
    kHashed,  ///< Rows for ids that were seen often enough.
    kTiered,  ///< Hot rows in memory, the rest on the disk.
  };

  /// `[trainer.tables]`: where the rows of the embedding tables lie.
  struct Tables {
    /// How a snapshot of kTiered is told.
    enum class Snapshot : std::uint8_t {
      kLinked,  ///< Rows that lie in memory, and links to files.
      kWhole,   ///< Row after row, as tables in memory: it can be merged with other ranks'.
    };
    Storage storage = Storage::kMemory;
    std::uint64_t memory_bytes = 0;         ///< Of kTiered: for rows and all that finds them.
    std::string folder;                     ///< Of kTiered: for the rest.
    Snapshot snapshot = Snapshot::kLinked;  ///< Of kTiered; not in the job file.
    int admit_after = 2;            ///< Of kHashed: occurrences before an id has its own row.
    std::uint64_t evict_after = 0;  ///< Of kHashed: steps unseen before it goes; 0: never.
    std::uint64_t device_memory_bytes = 0;  ///< For rows on the device; 0: for all in memory.
    Placement placement = Placement::kAuto;
  };

  ModelKind model = ModelKind::kDlrm;
  std::chrono::nanoseconds step = std::chrono::milliseconds(20);  ///< Of the emulated model.
  std::string device = "cpu";  ///< "cpu", or as libtorch names it: "cuda", "cuda:1".
  int threads = 0;             ///< Of the model; 0: by `pipeline.cpus`.
  bool deterministic = true;   ///< The same bits for the same batches, whatever `threads`.
  std::uint64_t seed = 1;      ///< Of the initial weights.
  Optimizer optimizer = Optimizer::kAdagrad;
  double learning_rate = 0.01;
  std::uint64_t warmup_steps = 0;  ///< Over which the learning rate rises (trainer/schedule.h).
  std::uint64_t decay_start = 0;   ///< The step from which on it falls, over `decay_steps`.
  std::uint64_t decay_steps = 0;   ///< 0: it does not fall.
  double clip_norm = 0;            ///< Of all gradients together, the most; 0: any.
  TableOptimizer table_optimizer = TableOptimizer::kAsDense;
  Pooling pooling = Pooling::kSum;  ///< Of the vectors of a list.
  Tables tables;
  int embedding_dim = 16;
  std::vector<int> bottom_mlp;  ///< Layer widths, the last embedding_dim; empty: 64, embedding_dim.
                                ///< Of dlrm and dcn_v2 only.
  std::vector<int> top_mlp;     ///< Layer widths, the last 1; empty: 64, 1. The deep part's of
                                ///< wide_deep and deepfm.
  int cross_layers = 3;         ///< Of dcn_v2.
  int cross_rank = 64;          ///< Of dcn_v2: the width that a cross layer's weights go through.
  std::int64_t max_table_rows = 65536;  ///< A table's rows: the feature's bound, at most this many;
                                        ///< ids are folded into them by their positive modulus.
  std::chrono::nanoseconds rank_timeout = std::chrono::seconds(30);  ///< For a rank to take part.
  std::string checkpoint = "checkpoints";  ///< A directory; relative to the job file; "": none.
  std::chrono::nanoseconds checkpoint_every = std::chrono::minutes(5);
  std::uint64_t checkpoint_steps = 0;  ///< Also after batches that it divides; 0: not by number.
  int keep = 2;                        ///< Checkpoints; the older ones go.
  std::vector<std::string> evaluate;   ///< Files and globs, as `dataset.paths`.
  double evaluate_share = 0;           ///< Share of the rows held out, in [0, 1).
  std::uint64_t evaluate_every = 0;    ///< In steps since the job's start; 0: only at the end.
  Auc evaluate_auc = Auc::kAuto;
  std::uint64_t early_stopping = 0;  ///< Ends after so many evaluations without gain; 0: never.
  Metric early_stopping_metric = Metric::kLogLoss;
  std::string tensorboard;        ///< A directory for event files; relative likewise; "": none.
  std::string csv;                ///< A file with a line every `log_every` steps; "": none.
  std::uint64_t log_every = 100;  ///< Steps between two lines of either.
};

/// Whether a model of this kind has weights, a loss and scores.
bool learns(TrainerSpec::ModelKind kind);

/// What the tables are trained with; never kAsDense.
TrainerSpec::TableOptimizer table_optimizer(const TrainerSpec& spec);

/// Values of state that it keeps for a row of `width` weights.
std::size_t state_width(TrainerSpec::TableOptimizer optimizer, std::size_t width);

/// What a model is made for: the widths of a batch and the rows of each embedding table.
struct ModelShape {
  TrainerSpec::ModelKind network = TrainerSpec::ModelKind::kDlrm;
  std::size_t dense_features = 0;
  std::vector<std::int64_t> table_rows = {};  ///< Per sparse feature.
  /// Names of columns; empty where there is nobody to tell them to.
  std::vector<std::string> dense_names = {};
  std::vector<std::string> sparse_names = {};  ///< Likewise, one a table.
  /// The tables that are made, where they are not all: the features that `table_rows` are of.
  std::vector<std::size_t> table_features = {};
  /// Where these are parts of tables: which row of the whole the first is, and the whole's rows.
  std::vector<std::int64_t> table_first = {};
  std::vector<std::int64_t> table_whole = {};
  std::vector<int> bottom_mlp = {};  ///< Widths after the input; the last is the embedding_dim.
  std::vector<int> top_mlp = {};     ///< Likewise; the last is 1.
  int embedding_dim = 0;
  int cross_layers = 0;
  int cross_rank = 0;

  bool operator==(const ModelShape&) const = default;

  /// Width of the bottom MLP's input; without dense features it is a constant 1.
  std::size_t bottom_input() const { return dense_features == 0 ? 1 : dense_features; }
  /// Whether ids have a weight of their own beside their vector (the linear part of wide_deep and
  /// deepfm), and there is no bottom MLP.
  bool is_wide() const;
  /// Values of a table's row: the vector, and that weight after it.
  std::size_t row_width() const {
    return static_cast<std::size_t>(embedding_dim) + (is_wide() ? 1 : 0);
  }
  /// Width of the top MLP's input.
  std::size_t top_input() const;
  /// Of all that is not a table.
  std::uint64_t dense_parameters() const;
  std::uint64_t table_parameters() const;
};

/// A batch is trained in this many shares, whatever the number of threads, so that sums are made
/// in one order and the bits do not depend on it; a share is worked off in groups of rows that
/// stay in a core's cache.
inline constexpr std::size_t kModelShares = 16;
inline constexpr std::size_t kModelGroupRows = 256;

/// So many batches whose rows are known wait for the model, at most.
inline constexpr std::size_t kMostExpectedBatches = 8;

/// A model on a device has so many batches there at a time, at most, and one more to score.
inline constexpr std::size_t kMostStagedBatches = 4;

/// The model that `spec` asks for over batches of `schema`; refuses a key that makes no sense.
Result<ModelShape> shape_of(const TrainerSpec& spec, const Schema& schema);

/// What tables copy aside for a snapshot that is being read: in slots of so many bytes, at most so
/// many in all.
std::size_t copy_slot_bytes(const ModelShape& shape);
std::size_t copy_room_bytes(const ModelShape& shape);

/// How often the optimizer has a parameter of the network: itself, and what it keeps beside it.
std::uint64_t dense_copies(TrainerSpec::Optimizer optimizer);

/// Bytes of the embedding tables in memory, with the optimizer's state and what finds the rows.
std::uint64_t table_bytes(const TrainerSpec& spec, const ModelShape& shape);

/// Values that a row of a batch takes on its way through the network and back.
std::uint64_t row_activations(const ModelShape& shape);

/// Bytes that the model takes at most while it trains on batches of `batch_size` rows with
/// `ids_per_batch` sparse ids: weights, optimizer state, gradients and activations of one batch,
/// and what is copied aside while a checkpoint is written; with a device, what the host keeps for
/// it too (trainer/device_memory.h). What libtorch itself takes once it is loaded is not in it. 0
/// for models that do not learn.
std::uint64_t model_bytes(const TrainerSpec& spec, const ModelShape& shape,
                          std::uint64_t batch_size, std::uint64_t ids_per_batch);

}  // namespace forebay
