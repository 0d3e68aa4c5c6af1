#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/result.h"
#include "trainer/spec.h"

namespace forebay {

/// Describes the model of a checkpoint's tensors, so that the checkpoint can be used without the
/// job file: the kind, the sizes, the names of the columns.
struct ModelDescription {
  /// Only these keys are set: model, optimizer, table_optimizer, pooling, seed, tables.storage.
  TrainerSpec spec;
  ModelShape shape;
};

/// The checkpoint's file with the description.
inline constexpr char kModelFile[] = "model.json";

std::string to_json(const ModelDescription& model);

/// Returns an error that begins with `path`: kCorrupt for a text that does not describe a model,
/// kInvalid for another version of the format.
Result<ModelDescription> parse_model(const std::string& text, const std::string& path);

/// Checks whether a job with this `spec` may continue from a checkpoint of `kept`. Returns
/// kInvalid, naming the key, for a difference that no tensor's name or extent would show, or that
/// the key explains better than they do.
Status may_go_on(const ModelDescription& kept, const TrainerSpec& spec);

/// Suffix of the path to which a model is written before it gets its final name.
inline constexpr char kExportAside[] = ".tmp";

/// The destination of an export.
struct ExportTarget {
  std::string file;
  /// Called once the number of bytes to write is known; they stay in memory until written. An error
  /// that it returns ends the export, as below.
  std::function<Status(std::uint64_t bytes)> fits = {};
  /// Called when all is read, before anything is written: checks that the data read is complete.
  std::function<Status()> is_whole = {};
};

/// An exported model's file.
struct ExportedModel {
  std::uint64_t bytes = 0;
  std::uint64_t parameters = 0;
};

}  // namespace forebay
