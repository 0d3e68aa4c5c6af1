#pragma once

#include <memory>

#include "core/base/result.h"
#include "trainer/collective.h"
#include "trainer/model.h"
#include "trainer/spec.h"

namespace forebay {

/// A model on the CPU: embedding bags, interactions and optimizers are this project's own loops,
/// the layers libtorch's matrix products. The same batches give the same bits whatever
/// `spec.threads`. With `ranks`, which outlive it, this one's part of a model that all train.
Result<std::unique_ptr<Model>> make_cpu_model(const TrainerSpec& spec, const ModelShape& shape,
                                              Collective* ranks = nullptr);

/// The same model in libtorch's operators and autograd alone, on any device it knows; starts with
/// the same weights. Tables are those of any storage, on the host; rows that batches need, and
/// those that come again, lie on the device. Batches that are expected are copied there beside
/// training.
Result<std::unique_ptr<Model>> make_autograd_model(const TrainerSpec& spec,
                                                   const ModelShape& shape);

}  // namespace forebay
