#pragma once

#include <memory>

#include "core/base/result.h"
#include "trainer/collective.h"
#include "trainer/entry.h"
#include "trainer/model.h"
#include "trainer/spec.h"

namespace forebay {

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
