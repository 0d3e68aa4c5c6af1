#pragma once

#include <cstdint>
#include <memory>

#include "core/base/result.h"
#include "trainer/model.h"
#include "trainer/spec.h"

namespace forebay {

/// What the trainer's module offers to the program that opens it, both built from the same sources.
struct TrainerEntry {
  std::uint32_t abi = 0;  ///< kTrainerAbi of its sources; nothing else is looked at before.
  const char* torch_version = nullptr;
  /// A model of kind dlrm on `spec.device`; 0 `spec.threads` count as 1.
  Result<std::unique_ptr<Model>> (*make_dlrm)(const TrainerSpec& spec,
                                              const ModelShape& shape) = nullptr;
};

/// Changes with every change to TrainerEntry, Model, TrainerSpec, ModelShape or Batch.
inline constexpr std::uint32_t kTrainerAbi = 1;

/// The one symbol of the module: `extern "C" const TrainerEntry* forebay_trainer_entry()`.
inline constexpr char kTrainerEntrySymbol[] = "forebay_trainer_entry";
inline constexpr char kTrainerModuleName[] = "libforebay_trainer.so";

}  // namespace forebay
