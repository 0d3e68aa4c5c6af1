#pragma once

#include <cstdint>
#include <memory>

#include "core/base/result.h"
#include "trainer/collective.h"
#include "trainer/model.h"
#include "trainer/model_description.h"
#include "trainer/spec.h"

namespace forebay {

/// The functions of the trainer's module for the program that opens it; both are built from the
/// same sources.
struct TrainerEntry {
  std::uint32_t abi = 0;  ///< kTrainerAbi of its sources; checked before any other member.
  const char* torch_version = nullptr;
  /// Makes a model that learns, on `spec.device`; 0 `spec.threads` count as 1. With `ranks`, this
  /// rank's part of it.
  Result<std::unique_ptr<Model>> (*make_model)(const TrainerSpec& spec, const ModelShape& shape,
                                               Collective* ranks) = nullptr;
  /// See trainer/torch/module_functions.h.
  Result<ExportedModel> (*export_model)(const ModelDescription& model, StateSource& state,
                                        const ExportTarget& target) = nullptr;
  /// Serves the ranks' store, or connects to it.
  Result<std::unique_ptr<RankStore>> (*open_rank_store)(const CollectiveSpec& spec) = nullptr;
};

/// Must change with every change to TrainerEntry, Model, Collective, RankStore, TrainerSpec,
/// ModelShape, ModelDescription or Batch.
inline constexpr std::uint32_t kTrainerAbi = 12;

/// Bytes of resident memory that libtorch takes before any model is made, as measured with 1.13 and
/// 2.x on the CPU. Less is resident right after it is loaded.
inline constexpr std::uint64_t kTorchBytes = std::uint64_t{180} << 20;

/// The one symbol of the module: `extern "C" const TrainerEntry* forebay_trainer_entry()`.
inline constexpr char kTrainerEntrySymbol[] = "forebay_trainer_entry";
inline constexpr char kTrainerModuleName[] = "libforebay_trainer.so";

/// Opens the part of the trainer that is linked with libtorch, loaded when a command trains:
/// linking it would cost every command its start-up time and memory.
///
/// Searches beside the program, in ../lib/forebay and where the program was built; the error says
/// what to install if libtorch is missing. Open it before any thread is started: it sets variables
/// that libtorch's libraries read while loading (threads that wait for each other spin only
/// briefly; matrix products start no threads of their own). It stays loaded until the process ends.
Result<const TrainerEntry*> open_trainer();

/// Sets the variables that libtorch's libraries read while they are loaded; keeps values that the
/// user set.
void set_library_variables();

/// Makes the model of `spec`; opens the module only for a model that needs it.
Result<std::unique_ptr<Model>> make_model(const TrainerSpec& spec, const ModelShape& shape,
                                          Collective* ranks = nullptr);

}  // namespace forebay
