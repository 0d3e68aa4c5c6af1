#include "tools/bench/training/bench_model.h"

#include <string>

namespace forebay {

TrainerSpec bench_model(std::int64_t table_rows, bool small_network) {
  TrainerSpec spec;
  spec.threads = 1;
  spec.embedding_dim = 32;
  spec.max_table_rows = table_rows;
  if (!small_network) {
    spec.bottom_mlp = {512, 256, 64, 32};
    spec.top_mlp = {512, 256, 1};
  }
  return spec;
}

Schema schema_of(const ZipfBatches::Options& batches) {
  Schema schema;
  for (std::size_t i = 0; i < batches.dense; ++i) schema.dense.push_back("I" + std::to_string(i));
  for (std::size_t i = 0; i < batches.features; ++i) {
    schema.sparse.push_back({"C" + std::to_string(i), 0});
  }
  return schema;
}

}  // namespace forebay
