#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/bench/bench_result.h"
#include "tools/command/command.h"

namespace forebay {

/// What `forebay bench PART` measures, for each part.
using BenchFigures = Result<std::vector<BenchResult>>;

/// The whole pipeline and its parts; the public loader's that `--public` names (a folder such as
/// tests/bench/public), and with `--growth` the pipeline's at a tenth of the rows.
BenchFigures ingest_figures(const Invocation& invocation);
/// Training with the pipeline against training on one cached batch.
BenchFigures train_figures(const Invocation& invocation);
/// Tables 20 times larger than their memory, against tables in memory.
BenchFigures table_figures(const Invocation& invocation);
/// Checkpoints of 1 GiB, where the command runs.
BenchFigures checkpoint_figures(const Invocation& invocation);
/// The model's threads: searched for, or left to chance.
BenchFigures threads_figures(const Invocation& invocation);
/// Two trainers against one.
BenchFigures ranks_figures(const Invocation& invocation);
/// The actor runtime, in turns with the same workloads by the program `--public` names
/// (caf_runtime, built from tests/bench where CAF is there).
BenchFigures runtime_figures(const Invocation& invocation);
/// intune's decisions; greedy's in a build without it.
BenchFigures tuner_figures(const Invocation& invocation);
/// Actors of two processes against ZeroMQ alone, remote stages, emulated clusters, the head.
BenchFigures wire_figures(const Invocation& invocation);

/// A number that an option gives, at least 1.
Result<std::uint64_t> bench_count(const Invocation& invocation, const std::string& option,
                                  std::uint64_t otherwise);

}  // namespace forebay
