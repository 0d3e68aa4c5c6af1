// Trains a small model and writes all that another implementation needs to do the same: trace
// FOLDER NETWORK OPTIMIZER [mean] [clip] [weighted]. In FOLDER, values.bin has the initial weights,
// then each batch's labels, dense values, lengths, ids and weights of rows; trace.json has the
// number of each, and the results.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/check.h"
#include "tests/trainer/click_batches.h"
#include "tests/trainer/state_values.h"
#include "trainer/evaluation/evaluation.h"
#include "trainer/torch/module_functions.h"

using namespace forebay;
using test::ClickBatches;

namespace {

constexpr std::uint64_t kSteps = 100;
constexpr std::uint64_t kHeldOut = 20;  // Batches after these, for the AUC.
constexpr ClickBatches::Options kData{
    .rows = 512, .dense = 13, .sparse = 8, .ids = 500, .most_per_field = 3};

ClickBatches::Options data_of(bool weighted) {
  ClickBatches::Options data = kData;
  data.weights = weighted;
  return data;
}

template <class T>
void write(std::ofstream& file, const T* values, std::size_t count) {
  file.write(reinterpret_cast<const char*>(values),
             static_cast<std::streamsize>(count * sizeof(T)));
}

const std::map<std::string, TrainerSpec::ModelKind> kNetworks = {
    {"dlrm", TrainerSpec::ModelKind::kDlrm},
    {"dcn_v2", TrainerSpec::ModelKind::kDcnV2},
    {"wide_deep", TrainerSpec::ModelKind::kWideDeep},
    {"deepfm", TrainerSpec::ModelKind::kDeepFm}};

struct Method {
  TrainerSpec::Optimizer optimizer;
  TrainerSpec::TableOptimizer tables;
  double learning_rate;
};
// With Adam, tables have Adagrad, which PyTorch has too; it has no row-wise Adagrad.
const std::map<std::string, Method> kMethods = {
    {"sgd", {TrainerSpec::Optimizer::kSgd, TrainerSpec::TableOptimizer::kSgd, 0.1}},
    {"adagrad", {TrainerSpec::Optimizer::kAdagrad, TrainerSpec::TableOptimizer::kAdagrad, 0.01}},
    {"adam", {TrainerSpec::Optimizer::kAdam, TrainerSpec::TableOptimizer::kAdagrad, 0.003}}};

TrainerSpec spec_of(const std::string& network, const std::string& optimizer,
                    const std::set<std::string>& options) {
  TrainerSpec spec;
  const Method& method = kMethods.at(optimizer);
  spec.model = kNetworks.at(network);
  spec.optimizer = method.optimizer;
  spec.table_optimizer = method.tables;
  spec.learning_rate = method.learning_rate;
  spec.max_table_rows = 300;  // Fewer rows than ids: some ids share a row.
  if (network == "dlrm" || network == "dcn_v2") spec.bottom_mlp = {32, 16};
  spec.top_mlp = {64, 32, 1};
  spec.cross_layers = 2;
  spec.cross_rank = 24;
  spec.threads = 2;
  if (options.contains("mean")) spec.pooling = TrainerSpec::Pooling::kMean;
  if (options.contains("clip")) {
    spec.clip_norm = 0.1;
    spec.warmup_steps = 10;
    spec.decay_start = 50;
    spec.decay_steps = 100;
  }
  return spec;
}

ModelShape shape_for(const TrainerSpec& spec) { return shape_of(spec, kData.schema()).value(); }

nlohmann::json write_weights(Model& model, std::ofstream& file) {
  nlohmann::json tensors = nlohmann::json::array();
  for (const auto& [tensor, weights] : test::state_of(model)) {
    if (tensor.part != StateTensor::Part::kWeights) continue;
    tensors.push_back({{"name", tensor.name}, {"shape", tensor.shape}});
    write(file, weights.data(), weights.size());
  }
  return tensors;
}

std::uint64_t write_batch(const Batch& batch, std::ofstream& file) {
  write(file, batch.labels, batch.rows);
  write(file, batch.dense, batch.rows * batch.dense_features);
  write(file, batch.lengths, batch.rows * batch.sparse_features);
  write(file, batch.ids, batch.num_ids);
  if (batch.weights != nullptr) write(file, batch.weights, batch.rows);
  return batch.num_ids;
}

void trace(const std::string& folder, const TrainerSpec& spec, bool weighted) {
  MemoryBudget budget(std::size_t{1} << 30);
  BufferPool pool(budget);
  const ClickBatches batches(pool, data_of(weighted));
  auto model = make_cpu_model(spec, shape_for(spec)).value();
  std::ofstream values(folder + "/values.bin", std::ios::binary);
  nlohmann::json announced{{"rows", kData.rows},
                           {"dense", kData.dense},
                           {"sparse", kData.sparse},
                           {"dim", spec.embedding_dim},
                           {"mean", spec.pooling == TrainerSpec::Pooling::kMean},
                           {"clip_norm", spec.clip_norm},
                           {"weighted", weighted},
                           {"tensors", write_weights(*model, values)}};
  Evaluation evaluation;
  std::vector<float> scores(kData.rows);
  for (std::uint64_t number = 0; number < kSteps + kHeldOut; ++number) {
    const auto batch = batches.make(number);
    announced["ids"].push_back(write_batch(*batch, values));
    if (number < kSteps) {
      announced["losses"].push_back(model->step(*batch).value());
      announced["learning_rates"].push_back(model->learning_rate().value());
    } else {
      FOREBAY_CHECK(model->predict(*batch, scores).has_value());
      FOREBAY_CHECK(evaluation.add(scores, {batch->labels, batch->rows}).has_value());
    }
  }
  // Scores of the last batch, which the exported model must reproduce.
  announced["scores"] = scores;
  const ModelDescription description{.spec = spec, .shape = shape_for(spec)};
  FOREBAY_CHECK(export_model(description, *model->snapshot().value(), {folder + "/model.pt"}));
  announced["auc"] = evaluation.finish().auc.value();
  std::ofstream(folder + "/trace.json") << announced;
  FOREBAY_CHECK(values.flush().good());
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4 || !kNetworks.contains(arguments[2]) || !kMethods.contains(arguments[3])) {
    std::fprintf(stderr, "usage: trace FOLDER NETWORK OPTIMIZER [mean] [clip] [weighted]\n");
    return EXIT_FAILURE;
  }
  const std::set<std::string> options(arguments + 4, arguments + count);
  trace(arguments[1], spec_of(arguments[2], arguments[3], options), options.contains("weighted"));
  return EXIT_SUCCESS;
}
