#include "trainer/spec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "trainer/device_memory.h"
#include "trainer/network_shape.h"
#include "trainer/saving/block_file.h"
#include "trainer/state/copy_before_change.h"

namespace forebay {
namespace {

constexpr int kWidest = 16384;
constexpr int kMostCrossLayers = 64;
constexpr std::int64_t kMostTableRows = std::int64_t{1} << 31;
constexpr std::uint64_t kHashedRow = 48;  // Most bytes of HashedTables per row beside its values.
// Of that, what a snapshot copies: the key, the step that saw the row last, and its counters.
constexpr std::uint64_t kHashedCopy = 24;
constexpr std::uint64_t kFoundRow = 16;     // Key, slot and count of a row in BatchRows.
constexpr std::uint64_t kFinderEntry = 16;  // Of a RowFinder's hash table.
constexpr std::uint64_t kFinderRow = 12;    // Key and count of a row in a RowFinder.
constexpr std::size_t kCopySlot = 128;
constexpr std::size_t kMostCopied = std::size_t{64} << 20;

Status check_widths(const std::string& key, const std::vector<int>& widths, int last) {
  for (int width : widths) {
    if (width < 1 || width > kWidest) {
      return fail(Code::kInvalid, key + ": a layer of " + std::to_string(width) +
                                      " is not within 1 to " + std::to_string(kWidest));
    }
  }
  if (widths.back() != last) {
    return fail(Code::kInvalid, key + " ends in " + std::to_string(widths.back()) +
                                    " and must end in " + std::to_string(last) +
                                    (last == 1 ? "" : ", which is trainer.embedding_dim"));
  }
  return {};
}

Status check(const TrainerSpec& spec) {
  const std::pair<bool, std::string> rules[] = {
      {spec.embedding_dim >= 1 && spec.embedding_dim <= 4096,
       "embedding_dim is " + std::to_string(spec.embedding_dim) + " and must be within 1 to 4096"},
      {spec.learning_rate > 0 && std::isfinite(spec.learning_rate),
       "learning_rate must be above 0"},
      {spec.cross_layers >= 1 && spec.cross_layers <= kMostCrossLayers,
       "cross_layers must be within 1 to " + std::to_string(kMostCrossLayers)},
      {spec.cross_rank >= 1 && spec.cross_rank <= kWidest,
       "cross_rank must be within 1 to " + std::to_string(kWidest)},
      {spec.clip_norm >= 0 && std::isfinite(spec.clip_norm), "clip_norm must be at least 0"},
      {spec.decay_start == 0 || spec.decay_steps > 0,
       "decay_start wants a trainer.decay_steps above 0"},
      {spec.max_table_rows >= 1 && spec.max_table_rows <= kMostTableRows,
       "max_table_rows is " + std::to_string(spec.max_table_rows) + " and must be within 1 to " +
           std::to_string(kMostTableRows)},
      {spec.threads >= 0 && spec.threads <= 1024, "threads must be within 1 to 1024"},
      {spec.evaluate_share >= 0 && spec.evaluate_share < 1,
       "evaluate_share must be at least 0 and below 1"}};
  for (const auto& [is_kept, message] : rules) {
    if (!is_kept) return fail(Code::kInvalid, "trainer." + message);
  }
  return {};
}

}  // namespace

bool learns(TrainerSpec::ModelKind kind) {
  return kind != TrainerSpec::ModelKind::kEmulated && kind != TrainerSpec::ModelKind::kNone;
}

bool runs_on_gpu(const TrainerSpec& spec) {
  return learns(spec.model) && spec.device.starts_with("cuda");
}

TrainerSpec::TableOptimizer table_optimizer(const TrainerSpec& spec) {
  using Table = TrainerSpec::TableOptimizer;
  if (spec.table_optimizer != Table::kAsDense) return spec.table_optimizer;
  if (spec.optimizer == TrainerSpec::Optimizer::kSgd) return Table::kSgd;
  return spec.optimizer == TrainerSpec::Optimizer::kAdagrad ? Table::kAdagrad
                                                            : Table::kRowwiseAdagrad;
}

std::size_t state_width(TrainerSpec::TableOptimizer optimizer, std::size_t width) {
  if (optimizer == TrainerSpec::TableOptimizer::kSgd) return 0;
  return optimizer == TrainerSpec::TableOptimizer::kRowwiseAdagrad ? 1 : width;
}

Result<ModelShape> shape_of(const TrainerSpec& spec, const Schema& schema) {
  if (auto checked = check(spec); !checked) return pass(checked);
  if (schema.dense.empty() && schema.sparse.empty()) {
    return fail(Code::kInvalid, "columns: a model needs at least one dense or sparse column");
  }
  ModelShape shape;
  shape.network = spec.model;
  shape.dense_features = schema.dense.size();
  shape.dense_names = schema.dense;
  shape.weighted = schema.weight;
  shape.embedding_dim = spec.embedding_dim;
  shape.bottom_mlp = spec.bottom_mlp;
  if (shape.is_wide() && !spec.bottom_mlp.empty()) {
    return fail(Code::kInvalid, "trainer.bottom_mlp: wide_deep and deepfm have no bottom MLP");
  }
  if (shape.bottom_mlp.empty() && !shape.is_wide()) shape.bottom_mlp = {64, spec.embedding_dim};
  shape.top_mlp = spec.top_mlp;
  if (shape.top_mlp.empty()) shape.top_mlp = {64, 1};
  if (!shape.is_wide()) {
    auto bottom = check_widths("trainer.bottom_mlp", shape.bottom_mlp, spec.embedding_dim);
    if (!bottom) return pass(bottom);
  }
  auto top = check_widths("trainer.top_mlp", shape.top_mlp, 1);
  if (!top) return pass(top);
  if (spec.model == TrainerSpec::ModelKind::kDcnV2) {
    shape.cross_layers = spec.cross_layers;
    shape.cross_rank = spec.cross_rank;
  }
  for (const SparseFeature& feature : schema.sparse) {
    const std::int64_t bound = feature.bound > 0 ? feature.bound : spec.max_table_rows;
    shape.table_rows.push_back(std::min(bound, spec.max_table_rows));
    shape.sparse_names.push_back(feature.name);
  }
  return shape;
}

std::size_t copy_slot_bytes(const ModelShape& shape) {
  return std::max(kCopySlot, shape.row_width() * sizeof(float));
}

std::size_t copy_room_bytes(const ModelShape& shape) {
  const std::size_t tables = 2 * sizeof(float) * shape.table_parameters();
  return std::min(kMostCopied, tables / 8);
}

std::uint64_t dense_copies(TrainerSpec::Optimizer optimizer) {
  if (optimizer == TrainerSpec::Optimizer::kAdam) return 3;
  return optimizer == TrainerSpec::Optimizer::kAdagrad ? 2 : 1;
}

std::uint64_t table_row_bytes(const TrainerSpec& spec, const ModelShape& shape) {
  const std::size_t width = shape.row_width();
  return sizeof(float) * (width + state_width(table_optimizer(spec), width));
}

std::uint64_t table_bytes(const TrainerSpec& spec, const ModelShape& shape) {
  if (spec.tables.storage == TrainerSpec::Storage::kTiered) return spec.tables.memory_bytes;
  const std::uint64_t row = table_row_bytes(spec, shape);
  if (spec.tables.storage != TrainerSpec::Storage::kHashed) return shape.all_table_rows() * row;
  const std::uint64_t copied = spec.checkpoint.empty() ? 0 : kHashedCopy;
  return shape.all_table_rows() * (row + kHashedRow + copied);
}

std::uint64_t touched_rows(const ModelShape& shape, const MostIds& ids, std::uint64_t batches) {
  std::uint64_t rows = 0;
  for (std::size_t table = 0; table < shape.table_rows.size(); ++table) {
    const std::size_t feature = shape.table_features.empty() ? table : shape.table_features[table];
    rows += std::min(static_cast<std::uint64_t>(shape.table_rows[table]),
                     batches * ids.of_feature.at(feature));
  }
  return std::min(rows, batches * ids.all);
}

std::uint64_t finder_bytes(const ModelShape& shape, const MostIds& ids, bool has_team) {
  const auto table_of = [](std::uint64_t most) {
    return kFinderEntry * std::bit_ceil(std::max<std::uint64_t>(2 * most, 16));
  };
  std::uint64_t tables = table_of(ids.largest());
  if (has_team) {
    tables = 0;
    for (const std::uint64_t most : ids.of_feature) tables += table_of(most);
  }
  return tables + kFinderRow * touched_rows(shape, ids);
}

std::uint64_t model_bytes(const TrainerSpec& spec, const ModelShape& shape,
                          std::uint64_t batch_size, const MostIds& ids) {
  if (!learns(spec.model)) return 0;
  const std::uint64_t weights = dense_copies(spec.optimizer) * shape.dense_parameters();
  const auto threads = static_cast<std::uint64_t>(std::max(spec.threads, 1));
  const std::uint64_t dim = shape.row_width();

  // Follows the buffers of trainer/torch: a gradient of the MLPs per share of the batch; per thread
  // the activations of one group of rows; per batch the gradients of the pooled vectors and their
  // sums by row, and, for each batch that is prefetched, the rows of its ids, which are found in a
  // hash table. A snapshot copies the network and its optimizer's state.
  const std::uint64_t mlp_gradients = kModelShares * shape.dense_parameters();
  const std::uint64_t most_touched = touched_rows(shape, ids);
  const std::uint64_t per_thread = kModelGroupRows * row_activations(shape);
  // Rounded weights, and per thread their gradients of one group and its activations once more.
  const std::uint64_t rounded =
      spec.precision == TrainerSpec::Precision::kBf16
          ? (1 + threads) * rounded_parameters(shape) + threads * per_thread
          : 0;
  const std::uint64_t per_batch =
      batch_size * shape.table_rows.size() * dim + most_touched * dim + 2 * batch_size;
  // Ids of hashed tables are folded into their rows only after they were found.
  const bool hashed = spec.tables.storage == TrainerSpec::Storage::kHashed;
  const std::uint64_t found = hashed ? ids.all : most_touched;
  const std::uint64_t ahead =
      (kMostExpectedBatches + 1) * (sizeof(std::int32_t) * ids.all + kFoundRow * found);
  const std::uint64_t tables = table_bytes(spec, shape);
  const std::size_t row_bytes = static_cast<std::size_t>(dim) * sizeof(float);
  const std::uint64_t guards =
      CopyBeforeChange::own_bytes(tables, row_bytes, copy_slot_bytes(shape)) +
      copy_room_bytes(shape);
  return tables + sizeof(float) * (weights + mlp_gradients + threads * per_thread + per_batch) +
         sizeof(std::uint16_t) * rounded + ahead + finder_bytes(shape, ids, runs_on_gpu(spec)) +
         guards + host_bytes_for_device(spec, shape, batch_size, ids) +
         (spec.checkpoint.empty() ? 0 : BlockRing::kBytes + sizeof(float) * weights);
}

}  // namespace forebay
