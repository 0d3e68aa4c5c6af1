#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/bench/bench.h"

namespace forebay {

/// The folder of a store's buckets, and the port of its server.
struct StorePlace {
  std::string folder;
  int port = 0;
};

/// Measures `forebay ingest` of Criteo rows from the store against the same from the disk, with the
/// usual transforms and pipeline.memory = "1GiB", interleaved; the server runs beside both. Writes
/// `options.rows` thousand rows into the bucket "criteo", and reads them four times.
Result<std::vector<BenchResult>> measure_criteo_job(const BenchOptions& options,
                                                    const StorePlace& store);

/// The same of 40 of 200 columns (dlrm_files.h), half as many rows, in batches of 16,384; with
/// `options.other` against polars, too. Compares requests and bytes, in dollars at the options'
/// prices, with the cheapest way to fetch the wanted chunks of each row group.
Result<std::vector<BenchResult>> measure_dlrm_job(const BenchOptions& options,
                                                  const StorePlace& store);

}  // namespace forebay
