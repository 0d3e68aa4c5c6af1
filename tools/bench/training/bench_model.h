#pragma once

#include <cstdint>

#include "core/data/schema.h"
#include "trainer/spec.h"
#include "trainer/train_bench.h"

namespace forebay {

/// Returns the DLRM that benchmarks train: tables of dimension 32, one thread; the default MLPs if
/// `small_network`, else those of Naumov et al. 2019 for the Criteo Kaggle data.
TrainerSpec bench_model(std::int64_t table_rows, bool small_network);

/// Returns the columns of these batches, named as Criteo's.
Schema schema_of(const ZipfBatches::Options& batches);

}  // namespace forebay
