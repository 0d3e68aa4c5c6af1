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

/// `[tuner]`: who sets the actors while a job runs.
struct TunerSpec {
  std::string mode = "on";                                    ///< off | advise | on
  std::string policy = "intune";                              ///< See `forebay tune --policies`.
  std::string reward = "usable";                              ///< usable | paper (tuner/reward.h)
  std::chrono::nanoseconds period = std::chrono::seconds(2);  ///< Between two decisions.
};

/// `[cluster]`: who else makes splits.
struct ClusterSpec {
  std::string listen;                                        ///< Workers join here; "": none.
  std::string head;                                          ///< Of a head of its own; "": ours.
  std::uint64_t min_workers = 0;                             ///< Wait for so many.
  std::uint64_t max_workers = 0;                             ///< Ask for no more; 0: no bound.
  bool local = true;                                         ///< This node makes splits, too.
  std::string keys;                                          ///< A folder; needed past loopback.
  std::chrono::nanoseconds lease = std::chrono::seconds(5);  ///< On a split.
  std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(250);
  std::chrono::nanoseconds rejoin = std::chrono::seconds(60);  ///< How long a lost end is awaited.
  std::string placement = "spread";                            ///< spread | pack | near
  std::string compress = "auto";                               ///< auto | none | lz4 | zstd
  std::string metrics;                                         ///< HOST:PORT for Prometheus.
  std::string scale;  ///< A command; given the workers wanted.

  bool used() const { return !listen.empty() || !head.empty(); }
};

/// `[run]`: where a run keeps its files and how patient it is.
struct RunSpec {
  /// No key: whether the process is this run's alone. Then `pipeline.memory` bounds all of its
  /// memory, else what the run accounts for.
  bool owns_process = true;
  std::string dir;                             ///< Absolute or relative to the working folder.
  std::uint64_t spill_bytes = 20'000'000'000;  ///< Decompressed bytes that may be written.
  std::chrono::nanoseconds grace = std::chrono::seconds(5);  ///< For an orderly stop.
  std::chrono::nanoseconds stall_after =
      std::chrono::seconds(30);                                    ///< Then a stuck stage is named.
  std::chrono::nanoseconds stall_fail = std::chrono::minutes(10);  ///< Then the run fails.
};

/// What a job was read from: enough to read it again elsewhere.
struct JobSource {
  std::string text;               ///< The job file.
  std::vector<std::string> sets;  ///< `--set` assignments, in order.
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
  std::string path;      ///< The job file as the user named it.
  std::string base_dir;  ///< Its folder: "." or a path.
  JobSource source;      ///< As read from a file.
};

}  // namespace forebay
