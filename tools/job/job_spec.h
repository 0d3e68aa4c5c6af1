#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/dataset_spec.h"
#include "actors/order_spec.h"
#include "actors/pipeline_spec.h"
#include "trainer/spec.h"

namespace forebay {

/// `[tuner]`: accepted, without effect so far.
struct TunerSpec {
  std::string mode = "on";  ///< off | advise | on
  std::string policy = "intune";
  std::chrono::nanoseconds period = std::chrono::seconds(2);
};

/// `[cluster]`: accepted, without effect so far.
struct ClusterSpec {
  std::string listen;
  std::uint64_t min_workers = 0;
  bool local = true;
  std::string keys;
};

/// `[run]`: where a run keeps its files and how patient it is.
struct RunSpec {
  std::string dir;                             ///< Absolute or relative to the working folder.
  std::uint64_t spill_bytes = 20'000'000'000;  ///< Decompressed bytes that may be written.
  std::chrono::nanoseconds grace = std::chrono::seconds(5);  ///< For an orderly stop.
  std::chrono::nanoseconds stall_after =
      std::chrono::seconds(30);                                    ///< Then a stuck stage is named.
  std::chrono::nanoseconds stall_fail = std::chrono::minutes(10);  ///< Then the run fails.
};

/// A job file, read, checked and completed with defaults.
///
/// `dataset.paths` and `trainer.evaluate` stay relative to `base_dir`; every other path (`run.dir`,
/// `trainer.checkpoint`, a transform's `library`) is resolved against it.
struct JobSpec {
  DatasetSpec dataset;
  ColumnSpec columns;
  OrderSpec order;
  std::vector<TransformSpec> transforms;
  PipelineSpec pipeline;
  std::uint64_t max_actors = 0;  ///< `pipeline.max_actors`: most actors in all; 0: no bound.
  TunerSpec tuner;
  TrainerSpec trainer;
  ClusterSpec cluster;
  RunSpec run;
  std::string path;                ///< The job file as the user named it.
  std::string base_dir;            ///< Its folder: "." or a path.
  std::vector<std::string> notes;  ///< Lines for the user: keys that have no effect yet.
};

}  // namespace forebay
