#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/bench/bench_result.h"
#include "tools/command/command.h"

namespace forebay {

/// The results of `forebay bench PART`, for each part.
using BenchFigures = Result<std::vector<BenchResult>>;

/// Measures the whole pipeline and its parts; with `--public`, also the public loader in that
/// folder (such as tests/bench/public), and with `--growth` the pipeline at a tenth of the rows.
BenchFigures ingest_figures(const Invocation& invocation);
/// Measures training with the pipeline, compared with training on one cached batch.
BenchFigures train_figures(const Invocation& invocation);
/// Measures tables 20 times larger than their memory, compared with tables in memory.
BenchFigures table_figures(const Invocation& invocation);
/// Measures checkpoints of 1 GiB in the current folder.
BenchFigures checkpoint_figures(const Invocation& invocation);
/// Measures the model's threads: the default number, compared with a searched one.
BenchFigures threads_figures(const Invocation& invocation);
/// Measures two trainers, compared with one.
BenchFigures ranks_figures(const Invocation& invocation);
/// Measures the actor runtime, interleaved with the same workloads of the program that `--public`
/// names (caf_runtime, built from tests/bench if CAF is installed).
BenchFigures runtime_figures(const Invocation& invocation);
/// Measures the decisions of intune, or of greedy in a build without intune.
BenchFigures tuner_figures(const Invocation& invocation);
/// Measures actors of two processes, compared with ZeroMQ alone, and remote stages, emulated
/// clusters and the head.
BenchFigures wire_figures(const Invocation& invocation);

/// Reads the number of an option, at least 1.
Result<std::uint64_t> bench_count(const Invocation& invocation, const std::string& option,
                                  std::uint64_t otherwise);

}  // namespace forebay
