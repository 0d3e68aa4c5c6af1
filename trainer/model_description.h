#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "trainer/spec.h"

namespace forebay {

/// What a checkpoint's tensors are a model of, so that it can be used without the job file: its
/// kind, its sizes, the names of its columns.
struct ModelDescription {
  /// Of these keys: model, optimizer, table_optimizer, pooling, seed, tables.storage.
  TrainerSpec spec;
  ModelShape shape;
};

/// A checkpoint's file of it.
inline constexpr char kModelFile[] = "model.json";

std::string to_json(const ModelDescription& model);

/// Refuses, in the name of `path`, what is no description of a model (kCorrupt), and one of another
/// version of the format (kInvalid).
Result<ModelDescription> parse_model(const std::string& text, const std::string& path);

/// Whether a job with this `spec` may go on from a checkpoint of `kept`: refuses (kInvalid, by its
/// key) what no tensor's name or extent would show, and what says it better than those.
Status may_go_on(const ModelDescription& kept, const TrainerSpec& spec);

/// Added to the path that a model is written to before it gets its name.
inline constexpr char kExportAside[] = ".tmp";

/// Where a model is exported to.
struct ExportTarget {
  std::string file;
  /// Asked once it is known how many bytes are written, and in memory until they are. An error that
  /// it returns ends the export, as below.
  std::function<Status(std::uint64_t bytes)> fits = {};
  /// Asked when all is read, before anything is written: whether what was read is whole.
  std::function<Status()> is_whole = {};
};

/// An exported model's file.
struct ExportedModel {
  std::uint64_t bytes = 0;
  std::uint64_t parameters = 0;
};

}  // namespace forebay
