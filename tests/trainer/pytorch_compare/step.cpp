// Steps of a DLRM for step_speed.py: step DIM BATCH big|small THREADS fp32|bf16. For each line on
// stdin it takes some steps and prints the seconds of one.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "core/base/check.h"
#include "tests/trainer/click_batches.h"
#include "trainer/torch/module_functions.h"

using namespace forebay;

namespace {

constexpr std::size_t kTables = 26;
constexpr std::size_t kDense = 13;
constexpr std::int64_t kRows = 100000;
constexpr std::uint64_t kBatches = 8;

std::unique_ptr<Model> make(int dim, bool big, int threads, bool bf16) {
  TrainerSpec spec;
  spec.embedding_dim = dim;
  spec.max_table_rows = kRows;
  spec.threads = threads;
  if (bf16) spec.precision = TrainerSpec::Precision::kBf16;
  if (big) {
    spec.bottom_mlp = {512, 256, 64, dim};
    spec.top_mlp = {512, 256, 1};
  }
  Schema schema;
  for (std::size_t i = 0; i < kDense; ++i) schema.dense.push_back("d");
  for (std::size_t i = 0; i < kTables; ++i) schema.sparse.push_back({"s", 0});
  return make_cpu_model(spec, shape_of(spec, schema).value()).value();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) {
    std::fprintf(stderr, "usage: step DIM BATCH big|small THREADS fp32|bf16\n");
    return EXIT_FAILURE;
  }
  MemoryBudget budget(std::size_t{1} << 30);
  BufferPool pool(budget);
  const test::ClickBatches source(pool, {.rows = std::strtoull(arguments[2], nullptr, 10),
                                         .dense = kDense,
                                         .sparse = kTables,
                                         .ids = kRows});
  std::vector<std::shared_ptr<const Batch>> batches;
  for (std::uint64_t number = 0; number < kBatches; ++number)
    batches.push_back(source.make(number));
  const auto model = make(std::atoi(arguments[1]), std::strcmp(arguments[3], "big") == 0,
                          std::atoi(arguments[4]), std::strcmp(arguments[5], "bf16") == 0);
  for (const auto& batch : batches) FOREBAY_CHECK(model->step(*batch).has_value());
  char line[16];
  while (std::fgets(line, sizeof(line), stdin) != nullptr) {
    const auto began = std::chrono::steady_clock::now();
    for (const auto& batch : batches) FOREBAY_CHECK(model->step(*batch).has_value());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    std::printf("%.9f\n", took.count() / kBatches);
    std::fflush(stdout);
  }
  return EXIT_SUCCESS;
}
