// Trains a small DLRM and writes down all that another implementation needs to do the same:
// trace FOLDER sgd|adagrad. In FOLDER, values.bin has the initial weights, then each batch's
// labels, dense values, lengths and ids; trace.json says how many of each, and what came out.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/check.h"
#include "tests/trainer/click_batches.h"
#include "trainer/evaluation.h"
#include "trainer/torch/models.h"

using namespace forebay;
using test::ClickBatches;

namespace {

constexpr std::uint64_t kSteps = 100;
constexpr std::uint64_t kHeldOut = 20;  // Batches after those, for the AUC.
constexpr ClickBatches::Options kData{
    .rows = 512, .dense = 13, .sparse = 8, .ids = 500, .most_per_field = 3};

template <class T>
void write(std::ofstream& file, const T* values, std::size_t count) {
  file.write(reinterpret_cast<const char*>(values),
             static_cast<std::streamsize>(count * sizeof(T)));
}

TrainerSpec spec_of(const std::string& optimizer) {
  TrainerSpec spec;
  const bool sgd = optimizer == "sgd";
  spec.optimizer = sgd ? TrainerSpec::Optimizer::kSgd : TrainerSpec::Optimizer::kAdagrad;
  spec.learning_rate = sgd ? 0.1 : 0.01;
  spec.max_table_rows = 300;  // Below the ids there are: some share a row.
  spec.bottom_mlp = {32, 16};
  spec.top_mlp = {64, 32, 1};
  spec.threads = 2;
  return spec;
}

ModelShape shape_for(const TrainerSpec& spec) {
  Schema schema;
  for (std::size_t i = 0; i < kData.dense; ++i) schema.dense.push_back("d");
  for (std::size_t i = 0; i < kData.sparse; ++i) schema.sparse.push_back({"s", 0});
  return shape_of(spec, schema).value();
}

nlohmann::json write_weights(Model& model, std::ofstream& file) {
  nlohmann::json tensors = nlohmann::json::array();
  for (const StateTensor& tensor : model.state()) {
    if (tensor.part != StateTensor::Part::kWeights) continue;
    tensors.push_back({{"name", tensor.name}, {"shape", tensor.shape}});
    write(file, tensor.values.data(), tensor.values.size());
  }
  return tensors;
}

std::uint64_t write_batch(const Batch& batch, std::ofstream& file) {
  write(file, batch.labels, batch.rows);
  write(file, batch.dense, batch.rows * batch.dense_features);
  write(file, batch.lengths, batch.rows * batch.sparse_features);
  write(file, batch.ids, batch.num_ids);
  return batch.num_ids;
}

void trace(const std::string& folder, const std::string& optimizer) {
  MemoryBudget budget(std::size_t{1} << 30);
  BufferPool pool(budget);
  const ClickBatches batches(pool, kData);
  const TrainerSpec spec = spec_of(optimizer);
  auto model = make_cpu_dlrm(spec, shape_for(spec)).value();
  std::ofstream values(folder + "/values.bin", std::ios::binary);
  nlohmann::json told{{"optimizer", optimizer}, {"learning_rate", spec.learning_rate},
                      {"rows", kData.rows},     {"dense", kData.dense},
                      {"sparse", kData.sparse}, {"tensors", write_weights(*model, values)}};
  Evaluation evaluation;
  std::vector<float> scores(kData.rows);
  for (std::uint64_t number = 0; number < kSteps + kHeldOut; ++number) {
    const auto batch = batches.make(number);
    told["ids"].push_back(write_batch(*batch, values));
    if (number < kSteps) {
      told["losses"].push_back(model->step(*batch).value());
    } else {
      FOREBAY_CHECK(model->predict(*batch, scores).has_value());
      FOREBAY_CHECK(evaluation.add(scores, {batch->labels, batch->rows}).has_value());
    }
  }
  told["auc"] = evaluation.finish().auc.value();
  std::ofstream(folder + "/trace.json") << told;
  FOREBAY_CHECK(values.flush().good());
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: trace FOLDER sgd|adagrad\n");
    return EXIT_FAILURE;
  }
  trace(arguments[1], arguments[2]);
  return EXIT_SUCCESS;
}
