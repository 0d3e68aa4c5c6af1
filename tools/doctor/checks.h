#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/input/file_system.h"
#include "actors/source/dataset.h"
#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/report/json_object.h"
#include "engine/run/job_run.h"

namespace forebay {

/// The result of one check, and what to do if there is a problem.
struct Finding {
  enum class Verdict : std::uint8_t { kOk, kWarn, kBad };

  std::string name;  ///< `memory`
  Verdict verdict = Verdict::kOk;
  std::string what;         ///< `8 GiB wanted, 3.1 GiB available`
  std::string advice = {};  ///< `lower pipeline.memory`; may be part of `what` instead.

  static Finding ok(std::string name, std::string what) {
    return {std::move(name), Verdict::kOk, std::move(what)};
  }
  static Finding warn(std::string name, std::string what, std::string advice) {
    return {std::move(name), Verdict::kWarn, std::move(what), std::move(advice)};
  }
  /// An error's message says what to do.
  static Finding bad(std::string name, const Error& error) {
    return {std::move(name), Verdict::kBad, error.message};
  }
};

/// Returns `warn  memory: 8 GiB wanted, 3.1 GiB available — lower pipeline.memory`
std::string to_line(const Finding& check);

/// Returns an object with `name`, `status` (ok, warn, bad) and `message`.
JsonObject to_json(const Finding& check);

std::size_t count_bad(const std::vector<Finding>& checks);

/// The library that multiplies matrices for libtorch.
struct Blas {
  enum class Kind : unsigned char { kFast, kReference, kUnknown, kNone };

  Kind kind = Kind::kNone;
  std::string path;  ///< Empty for kNone: libtorch then uses its own.
};

/// Finds it among the files mapped into a process, given in the format of /proc/PID/maps.
Blas find_blas(std::string_view maps);

/// The result of loading the trainer's module.
struct TorchProbe {
  std::string version;      ///< Version of libtorch.
  std::uint64_t bytes = 0;  ///< Resident memory that it uses once it is loaded.
  Blas blas;
};

/// Loads the trainer's module in a child process, so that this process stays small and survives a
/// broken library. Call it before any thread is started. Errors say what to install; kUnavailable
/// "stopped" after a stop request, kTimeout after a minute.
Result<TorchProbe> probe_torch();

/// Whether a command will train, so that missing training software is a problem.
enum class Training : std::uint8_t { kMaybe, kWanted, kNo };

/// Whether the file, which `systems` hold, begins as a Parquet file does. Reads nothing of a file
/// that is no regular one.
bool is_parquet(const std::string& path, const FileSystems& systems);

/// How Parquet files suit training.
struct LayoutChecks {
  std::vector<Finding> findings;
  std::optional<JsonObject> json = std::nullopt;  ///< The figures, if the footers could be read.
};

/// Checks one Parquet file, all columns wanted.
LayoutChecks check_parquet_file(const std::string& path, const FileSystems& systems);

/// Checks how a job reads its Parquet files: bytes against those of the wanted columns, row groups,
/// grains, strata. `systems` hold the files. Empty for a job of another format.
LayoutChecks check_parquet_job(const JobSpec& job, const Dataset& dataset,
                               const FileSystems& systems);

/// Checks CPUs and memory, against the needs of `job` if it is given, and the vector instructions.
std::vector<Finding> check_machine(const std::optional<JobSpec>& job);

/// Checks libtorch and the BLAS that it loaded.
std::vector<Finding> check_torch(const Result<TorchProbe>& probe, Training training);

/// Checks whether files can be written under `path`, which need not exist yet, and how many bytes
/// are free on its disk. `key` is the setting that gives the path.
Finding check_writable_path(const std::string& name, const std::string& key,
                            const std::string& path);

/// Returns the bytes available to this user on the disk of `path`, or of its nearest existing
/// parent folder.
std::uint64_t free_bytes(const std::string& path);

/// Checks whether `wanted` files may be open at once.
Finding check_open_files(std::uint64_t wanted);

/// What was measured, for scripts.
struct Figures {
  std::optional<JsonObject> layout = std::nullopt;  ///< Of Parquet files, if footers were read.
  std::vector<JsonObject> stores = {};              ///< One object for each store.
};

/// Checks a job as a run of it would: its folder, disk, keys, addresses, dataset, transforms,
/// memory, checkpoints.
///
/// Holds the lock of the job's folder meanwhile and writes the dataset's index; decompresses
/// nothing. `probe` is set for a model that needs libtorch.
std::vector<Finding> check_job(const JobSpec& job, const std::optional<TorchProbe>& probe,
                               const JobRun::Hooks& hooks, Figures& figures);

}  // namespace forebay
