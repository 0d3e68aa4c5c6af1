#pragma once

#include <memory>
#include <string>

#include "core/base/result.h"
#include "trainer/collective.h"
#include "trainer/model.h"
#include "trainer/model_description.h"
#include "trainer/rank_store.h"
#include "trainer/spec.h"

namespace forebay {

struct TrainerEntry;

/// The part of the trainer that is linked with libtorch, opened when a command trains: linking it
/// would cost every command its start-up time and memory.
///
/// Open it before any thread is started: it sets variables that libtorch's libraries read as they
/// load (threads that wait for each other spin only briefly; the matrix products start none of
/// their own). It stays loaded until the process ends.
class TrainerModule {
 public:
  /// Looks beside the program, in ../lib/forebay, where the program was built, and in `directory`
  /// first where that is not empty. Says what to install where libtorch is missing.
  static Result<TrainerModule> open(const std::string& directory = "");

  std::string torch_version() const;

  /// A model that learns, with its starting weights; 0 `spec.threads` count as 1. With `ranks`,
  /// which outlive it, this one's part of it.
  Result<std::unique_ptr<Model>> make_model(const TrainerSpec& spec, const ModelShape& shape,
                                            Collective* ranks = nullptr) const;

  /// Writes a model as TorchScript (trainer/torch/export.h).
  Result<ExportedModel> export_model(const ModelDescription& model, StateSource& state,
                                     const ExportTarget& target) const;

  /// Meets the other ranks: `spec.size` is above 1.
  Result<std::unique_ptr<Collective>> make_collective(const CollectiveSpec& spec) const;

  /// Serves the ranks' store or connects to it, as `spec.opens_store` has it, at most for
  /// `spec.timeout`.
  Result<std::unique_ptr<RankStore>> open_rank_store(const CollectiveSpec& spec) const;

 private:
  explicit TrainerModule(const TrainerEntry* entry) : entry_(entry) {}

  const TrainerEntry* entry_;
};

/// The model that `spec` asks for; opens the module only for one that needs it.
Result<std::unique_ptr<Model>> make_model(const TrainerSpec& spec, const ModelShape& shape,
                                          Collective* ranks = nullptr);

}  // namespace forebay
