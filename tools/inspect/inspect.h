#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/input/file_system.h"
#include "actors/loader_state.h"
#include "actors/source/index/file_index.h"
#include "actors/source/stored/file_list.h"
#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/report/json_object.h"

namespace forebay {

/// The start of a file, decompressed: enough to recognize its format.
struct FileSample {
  static constexpr std::size_t kBytes = 1 << 20;

  std::string path;
  Codec codec = Codec::kPlain;
  std::uint64_t stored_bytes = 0;  ///< Of the whole file.
  std::uint64_t consumed = 0;      ///< Stored bytes that were read for the sample.
  bool whole = false;              ///< Whether the sample is the whole file.
  std::string bytes = {};          ///< The sample, followed by padding for vector code.
  std::size_t size = 0;            ///< Bytes of the sample without the padding.

  std::string_view text() const { return std::string_view(bytes).substr(0, size); }

  /// Estimates the whole file's count from the sample's `count`; exact if the sample is whole.
  std::uint64_t scaled(std::uint64_t count) const;
};

/// Returns file systems that wait ten seconds for a store that does not answer.
FileSystems file_systems_to_inspect();

/// Reads the first kBytes of the file's decompressed content. Errors name the file.
Result<FileSample> read_sample(const std::string& path);

/// Characters of a name, value or row that a report shows.
inline constexpr std::size_t kMostShown = 100;

/// The report on one file: text for a user, and a JSON object for a script.
struct FileReport {
  std::string title = {};               ///< For example `Criteo TSV, 3,000 rows, 700 KiB`.
  std::vector<std::string> lines = {};  ///< Further lines.
  JsonObject json = {};                 ///< `path`, `kind` and the same values.
};

/// Recognizes a file or folder by its content, not its name: data, a loader state, an index, a
/// dataset's manifest, a quarantine, a decision log, a job, checkpoints and their files. kInvalid:
/// none of these; kNotFound: it does not exist; kCorrupt: one of these, but damaged. `named`: a
/// path, or an address.
Result<FileReport> inspect_path(const std::string& named);

/// Returns the transforms that a job may use, as the lines of a table.
std::vector<std::string> op_lines();

/// Returns the same transforms for a script: name, takes, gives, parameters, summary, missing.
std::vector<JsonObject> op_objects();

/// Reports on a file that the manifest of its checkpoint folder lists, or on the manifest itself.
/// Compares a listed file's bytes with the recorded digest first; kCorrupt names a file that
/// differs. Returns nullopt for any other file.
std::optional<Result<FileReport>> report_part(const std::string& path);

/// Reports on a folder that is a checkpoint or contains checkpoints; kInvalid for any other folder.
/// Reads all files of the checkpoints to check their digests, and changes no file.
Result<FileReport> report_folder(const std::string& path);

/// Reports on a Parquet file, or on a `.npy` or `.npz` file, from its metadata and first rows;
/// nullopt for any other file.
std::optional<Result<FileReport>> report_binary(const std::string& path);

/// Reports on a Criteo file; nullopt if fewer than half of its first rows are valid.
std::optional<FileReport> report_criteo(const FileSample& sample);

/// Reports on a CSV file or a dump of `ingest --dump`; nullopt if it is not a table.
std::optional<FileReport> report_table(const FileSample& sample);

// Reports on files that Forebay itself wrote, and on job files.

/// Reports on a loader's state: its position, and the settings of its job.
FileReport report_state(const std::string& path, const LoaderState& state);

/// Reports on the index of one file, and on whether the file changed since it was indexed.
FileReport report_index(const std::string& path, const FileIndex& index);

/// Reports on a dataset's manifest from its JSON text; kInvalid: not a manifest.
Result<FileReport> report_manifest(const std::string& path, const std::string& text);

/// Reports on a quarantine: the number of rows for each reason and of each file. Reads it line by
/// line.
Result<FileReport> report_quarantine(const std::string& path);

/// Reports on a job: its main settings with defaults.
FileReport report_job(const std::string& path, const JobSpec& job);

/// Returns a damaged row's reason without the values in it: `column I3: "…" is not an integer`.
std::string kind_of_damage(const std::string& reason);

/// Returns whether a file that begins with `begin` is a decision log.
bool is_decision_log(std::string_view begin);

/// Reports on a decision log: the policy and its number of decisions, the first and last
/// allocation, and how often the policy was not followed.
Result<FileReport> report_decisions(const std::string& path);

}  // namespace forebay
