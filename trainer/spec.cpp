#include "trainer/spec.h"

#include <algorithm>
#include <cmath>

namespace forebay {
namespace {

constexpr int kWidest = 16384;
constexpr std::int64_t kMostTableRows = std::int64_t{1} << 31;

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

std::uint64_t parameters(std::size_t input, const std::vector<int>& widths) {
  std::uint64_t total = 0;
  for (int width : widths) {
    const auto output = static_cast<std::size_t>(width);
    total += output * (input + 1);
    input = output;
  }
  return total;
}

std::uint64_t sum_of(const std::vector<int>& widths) {
  std::uint64_t total = 0;
  for (int width : widths) total += static_cast<std::uint64_t>(width);
  return total;
}

Status check(const TrainerSpec& spec) {
  const auto refuse = [](std::string message) {
    return fail(Code::kInvalid, "trainer." + std::move(message));
  };
  if (spec.embedding_dim < 1 || spec.embedding_dim > 4096) {
    return refuse("embedding_dim is " + std::to_string(spec.embedding_dim) +
                  " and must be within 1 to 4096");
  }
  if (!(spec.learning_rate > 0) || !std::isfinite(spec.learning_rate)) {
    return refuse("learning_rate must be above 0");
  }
  if (spec.max_table_rows < 1 || spec.max_table_rows > kMostTableRows) {
    return refuse("max_table_rows is " + std::to_string(spec.max_table_rows) +
                  " and must be within 1 to " + std::to_string(kMostTableRows));
  }
  if (spec.threads < 0 || spec.threads > 1024) return refuse("threads must be within 0 to 1024");
  if (!(spec.evaluate_share >= 0 && spec.evaluate_share < 1)) {
    return refuse("evaluate_share must be at least 0 and below 1");
  }
  return {};
}

}  // namespace

std::size_t ModelShape::top_input() const {
  const std::size_t vectors = table_rows.size() + 1;
  return static_cast<std::size_t>(embedding_dim) + vectors * (vectors - 1) / 2;
}

std::uint64_t ModelShape::mlp_parameters() const {
  return parameters(bottom_input(), bottom_mlp) + parameters(top_input(), top_mlp);
}

std::uint64_t ModelShape::table_parameters() const {
  std::uint64_t rows = 0;
  for (std::int64_t table : table_rows) rows += static_cast<std::uint64_t>(table);
  return rows * static_cast<std::uint64_t>(embedding_dim);
}

Result<ModelShape> shape_of(const TrainerSpec& spec, const Schema& schema) {
  if (auto checked = check(spec); !checked) return pass(checked);
  if (schema.dense.empty() && schema.sparse.empty()) {
    return fail(Code::kInvalid, "columns: a model needs at least one dense or sparse column");
  }
  ModelShape shape;
  shape.dense_features = schema.dense.size();
  shape.embedding_dim = spec.embedding_dim;
  shape.bottom_mlp = spec.bottom_mlp;
  if (shape.bottom_mlp.empty()) shape.bottom_mlp = {64, spec.embedding_dim};
  shape.top_mlp = spec.top_mlp;
  if (shape.top_mlp.empty()) shape.top_mlp = {64, 1};
  auto bottom = check_widths("trainer.bottom_mlp", shape.bottom_mlp, spec.embedding_dim);
  if (!bottom) return pass(bottom);
  auto top = check_widths("trainer.top_mlp", shape.top_mlp, 1);
  if (!top) return pass(top);
  for (const SparseFeature& feature : schema.sparse) {
    const std::int64_t bound = feature.bound > 0 ? feature.bound : spec.max_table_rows;
    shape.table_rows.push_back(std::min(bound, spec.max_table_rows));
  }
  return shape;
}

std::uint64_t model_bytes(const TrainerSpec& spec, const ModelShape& shape,
                          std::uint64_t batch_size, std::uint64_t ids_per_batch) {
  if (spec.model != TrainerSpec::ModelKind::kDlrm) return 0;
  const std::uint64_t copies = spec.optimizer == TrainerSpec::Optimizer::kAdagrad ? 2 : 1;
  const std::uint64_t weights = copies * (shape.table_parameters() + shape.mlp_parameters());
  const auto threads = static_cast<std::uint64_t>(std::max(spec.threads, 1));
  const auto dim = static_cast<std::uint64_t>(shape.embedding_dim);
  const auto vectors = shape.table_rows.size() + 1;
  std::int64_t largest = 0;
  for (std::int64_t rows : shape.table_rows) largest = std::max(largest, rows);

  // As trainer/torch lays it out: a gradient of the MLPs per share of the batch; per thread the
  // activations of one group of rows and the marks of one table; per batch the gradients of the
  // pooled vectors and the row of each id.
  const std::uint64_t mlp_gradients = kModelShares * shape.mlp_parameters();
  const std::uint64_t row = 2 * (shape.bottom_input() + shape.top_input() + vectors * dim +
                                 sum_of(shape.bottom_mlp) + sum_of(shape.top_mlp)) +
                            vectors * vectors;
  const std::uint64_t most_touched = std::min(static_cast<std::uint64_t>(largest), ids_per_batch);
  const std::uint64_t per_thread =
      kModelGroupRows * row + static_cast<std::uint64_t>(largest) + most_touched * (dim + 1);
  const std::uint64_t per_batch =
      batch_size * shape.table_rows.size() * dim + 2 * ids_per_batch + 2 * batch_size;
  return sizeof(float) * (weights + mlp_gradients + threads * per_thread + per_batch);
}

}  // namespace forebay
