#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/input/store/storage_spec.h"
#include "actors/pipeline_spec.h"
#include "actors/stage_list.h"
#include "core/data/schema.h"
#include "trainer/spec.h"

namespace forebay {

/// `[tuner]`: how the actors of the stages are set while a job runs.
struct TunerSpec {
  std::string mode = "on";        ///< off | advise | on
  std::string policy = "intune";  ///< See `forebay tune --policies`.
  std::string reward = "usable";  ///< usable | paper (tuner/allocation.h)
  std::chrono::nanoseconds period = std::chrono::seconds(2);  ///< Time between two decisions.
};

/// `[cluster]`: the other nodes that make splits.
struct ClusterSpec {
  std::string listen;             ///< Address for workers to join; "": no listener.
  std::string head;               ///< Address of a separate head; "": the trainer runs its own.
  std::uint64_t min_workers = 0;  ///< Workers to wait for before the start.
  std::uint64_t max_workers = 0;  ///< Most workers to ask for; 0: no bound.
  bool local = true;              ///< The trainer's node makes splits, too.
  std::string keys;               ///< A folder; needed beyond loopback.
  std::chrono::nanoseconds lease = std::chrono::seconds(5);  ///< Duration of a lease on a split.
  std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(250);
  /// How long a lost peer is waited for.
  std::chrono::nanoseconds rejoin = std::chrono::seconds(60);
  std::string placement = "spread";  ///< spread | pack | near
  std::string compress = "auto";     ///< auto | none | lz4 | zstd
  std::string metrics;               ///< HOST:PORT for Prometheus.
  std::string scale;                 ///< A command, called with the wanted number of workers.
  /// The file with the address to join; no key of a job. "": `address` in the job's folder.
  std::string address_file = {};

  bool used() const { return !listen.empty() || !head.empty(); }
};

/// `[run]`: where a run keeps its files, and its timeouts.
struct RunSpec {
  /// Not a key. Whether the process serves this run alone. If so, `pipeline.memory` bounds the
  /// whole process's memory; else only the memory that the run accounts for.
  bool owns_process = true;
  std::string dir;                             ///< Absolute or relative to the working folder.
  std::string dashboard;                       ///< HOST:PORT of the run's page; "": no page.
  std::uint64_t spill_bytes = 20'000'000'000;  ///< Decompressed bytes that may be written.
  std::chrono::nanoseconds grace = std::chrono::seconds(5);  ///< Time for an orderly stop.
  /// Time until a stuck stage is reported.
  std::chrono::nanoseconds stall_after = std::chrono::seconds(30);
  std::chrono::nanoseconds stall_fail = std::chrono::minutes(10);  ///< Time until the run fails.
};

/// `[prices]`: what a run's resources cost, in any one currency; 0: nothing. They only count: what
/// is read of a store follows the prices of `[storage]`.
struct PriceSpec {
  double cpu_hour = 0;  ///< Of one CPU that the process may use.
  double gigabyte = 0;  ///< Of 10⁹ bytes read.
  double request = 0;   ///< Of one request to a file or store.

  bool any() const { return cpu_hour > 0 || gigabyte > 0 || request > 0; }
};

/// The sources of a job: enough to read it again on another node.
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
  StorageSpec storage;
  ColumnSpec columns;
  OrderSpec order;
  std::vector<TransformSpec> transforms;
  StageList stages;  ///< Of the transforms.
  PipelineSpec pipeline;
  /// `pipeline.max_actors`: most actors of all stages together; 0: no bound.
  std::uint64_t max_actors = 0;
  TunerSpec tuner;
  TrainerSpec trainer;
  ClusterSpec cluster;
  RunSpec run;
  PriceSpec prices;
  std::string path;      ///< The job file as the user named it.
  std::string base_dir;  ///< Its folder: "." or a path.
  JobSource source;      ///< The text and settings it was read from.
};

/// Describes for the user what a job's model uses on its device; "" on the cpu. Whether the device
/// has enough memory is checked when the model is made.
std::string describe_device(const JobSpec& job, const Schema& schema, const MostIds& ids);

}  // namespace forebay
