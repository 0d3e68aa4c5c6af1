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
    kEmulated,  ///< Waits `step` a batch.
    kNone,      ///< Takes batches and does nothing.
  };
  enum class Optimizer : std::uint8_t { kSgd, kAdagrad };

  ModelKind model = ModelKind::kDlrm;
  std::chrono::nanoseconds step = std::chrono::milliseconds(20);  ///< Of the emulated model.
  std::string device = "cpu";  ///< "cpu", or as libtorch names it: "cuda", "cuda:1".
  int threads = 0;             ///< Of the model; 0: `pipeline.cpus` - 1, at least 1.
  bool deterministic = true;   ///< The same bits for the same batches, whatever `threads`.
  std::uint64_t seed = 1;      ///< Of the initial weights.
  Optimizer optimizer = Optimizer::kAdagrad;
  double learning_rate = 0.01;
  int embedding_dim = 16;
  std::vector<int> bottom_mlp;  ///< Layer widths, the last embedding_dim; empty: 64, embedding_dim.
  std::vector<int> top_mlp;     ///< Layer widths, the last 1; empty: 64, 1.
  std::int64_t max_table_rows = 65536;  ///< A table's rows: the feature's bound, at most this many;
                                        ///< ids are folded into them by their positive modulus.
  std::string checkpoint = "checkpoints";  ///< A directory; relative to the job file; "": none.
  std::chrono::nanoseconds checkpoint_every = std::chrono::minutes(5);
  std::vector<std::string> evaluate;  ///< Files and globs, as `dataset.paths`.
  double evaluate_share = 0;          ///< Share of the rows held out, in [0, 1).
};

/// What a model is made for: the widths of a batch and the rows of each embedding table.
struct ModelShape {
  std::size_t dense_features = 0;
  std::vector<std::int64_t> table_rows = {};  ///< Per sparse feature.
  std::vector<int> bottom_mlp = {};  ///< Widths after the input; the last is the embedding_dim.
  std::vector<int> top_mlp = {};     ///< Likewise; the last is 1.
  int embedding_dim = 0;

  bool operator==(const ModelShape&) const = default;

  /// Width of the bottom MLP's input; without dense features it is a constant 1.
  std::size_t bottom_input() const { return dense_features == 0 ? 1 : dense_features; }
  /// Width of the top MLP's input: the bottom's output and each pair of vectors once.
  std::size_t top_input() const;
  std::uint64_t mlp_parameters() const;
  std::uint64_t table_parameters() const;
};

/// A batch is trained in this many shares, whatever the number of threads, so that sums are made
/// in one order and the bits do not depend on it; a share is worked off in groups of rows that
/// stay in a core's cache.
inline constexpr std::size_t kModelShares = 16;
inline constexpr std::size_t kModelGroupRows = 256;

/// The model that `spec` asks for over batches of `schema`; refuses a key that makes no sense.
Result<ModelShape> shape_of(const TrainerSpec& spec, const Schema& schema);

/// Bytes that the model takes at most while it trains on batches of `batch_size` rows with
/// `ids_per_batch` sparse ids: weights, optimizer state, gradients and activations of one batch.
/// What libtorch itself takes once it is loaded is not in it. 0 for models other than dlrm.
std::uint64_t model_bytes(const TrainerSpec& spec, const ModelShape& shape,
                          std::uint64_t batch_size, std::uint64_t ids_per_batch);

}  // namespace forebay
