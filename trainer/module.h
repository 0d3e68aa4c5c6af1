#pragma once

#include <memory>
#include <string>

#include "core/base/result.h"
#include "trainer/collective.h"
#include "trainer/model.h"
#include "trainer/model_description.h"
#include "trainer/spec.h"

namespace forebay {

struct TrainerEntry;

/// The part of the trainer that is linked with libtorch, loaded when a command trains: linking it
/// would cost every command its start-up time and memory.
///
/// Open it before any thread is started: it sets variables that libtorch's libraries read while
/// loading (threads that wait for each other spin only briefly; matrix products start no threads of
/// their own). It stays loaded until the process ends.
class TrainerModule {
 public:
  /// Searches beside the program, in ../lib/forebay, where the program was built, and before these
  /// in `directory` if it is not empty. The error says what to install if libtorch is missing.
  static Result<TrainerModule> open(const std::string& directory = "");

  std::string torch_version() const;

  /// Makes a model that learns, with its initial weights; 0 `spec.threads` count as 1. With
  /// `ranks`, which outlive it, this rank's part of the model.
  Result<std::unique_ptr<Model>> make_model(const TrainerSpec& spec, const ModelShape& shape,
                                            Collective* ranks = nullptr) const;

  /// Writes a model as TorchScript (trainer/torch/export.h).
  Result<ExportedModel> export_model(const ModelDescription& model, StateSource& state,
                                     const ExportTarget& target) const;

  /// Connects to the other ranks; requires `spec.size` above 1.
  Result<std::unique_ptr<Collective>> make_collective(const CollectiveSpec& spec) const;

  /// Serves the ranks' store or connects to it, depending on `spec.opens_store`, for at most
  /// `spec.timeout`.
  Result<std::unique_ptr<RankStore>> open_rank_store(const CollectiveSpec& spec) const;

 private:
  explicit TrainerModule(const TrainerEntry* entry) : entry_(entry) {}

  const TrainerEntry* entry_;
};

/// Sets the variables that libtorch's libraries read while they are loaded; keeps values that the
/// user set.
void set_library_variables();

/// Makes the model of `spec`; opens the module only for a model that needs it.
Result<std::unique_ptr<Model>> make_model(const TrainerSpec& spec, const ModelShape& shape,
                                          Collective* ranks = nullptr);

}  // namespace forebay
