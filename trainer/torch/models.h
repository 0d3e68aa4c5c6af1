#pragma once

#include <memory>

#include "core/base/result.h"
#include "trainer/collective.h"
#include "trainer/model.h"
#include "trainer/spec.h"

namespace forebay {

/// Makes a model on the CPU: embedding bags, interactions and optimizers are this project's own
/// loops, the layers libtorch's matrix products. The same batches give the same bits for any
/// `spec.threads`. With `ranks`, which outlive it, this rank's part of the common model.
Result<std::unique_ptr<Model>> make_cpu_model(const TrainerSpec& spec, const ModelShape& shape,
                                              Collective* ranks = nullptr);

/// Makes the part of the model that one of several ranks has; `ranks` outlives it.
Result<std::unique_ptr<Model>> make_ranked_model(const TrainerSpec& spec, const ModelShape& shape,
                                                 Collective& ranks);

/// Makes the same model from libtorch's operators and autograd alone, on any device that libtorch
/// supports; it starts with the same weights. Tables use any storage, on the host; rows that
/// batches need, and those in frequent use, are on the device. Announced batches are copied there
/// while training goes on.
Result<std::unique_ptr<Model>> make_autograd_model(const TrainerSpec& spec,
                                                   const ModelShape& shape);

}  // namespace forebay
