#pragma once

#include <memory>

#include "core/base/result.h"
#include "trainer/model.h"
#include "trainer/spec.h"

namespace forebay {

/// DLRM on the CPU: embedding bags, interaction and optimizer are this project's own loops, the
/// MLPs libtorch's matrix products. The same batches give the same bits whatever `spec.threads`.
Result<std::unique_ptr<Model>> make_cpu_dlrm(const TrainerSpec& spec, const ModelShape& shape);

/// The same model in libtorch's operators and autograd alone, on any device it knows; starts with
/// the same weights. Batches are copied to the device.
Result<std::unique_ptr<Model>> make_device_dlrm(const TrainerSpec& spec, const ModelShape& shape);

}  // namespace forebay
