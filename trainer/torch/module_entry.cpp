#include <ATen/Parallel.h>
#include <torch/version.h>

#include "trainer/entry.h"
#include "trainer/torch/models.h"

namespace forebay {
namespace {

Result<std::unique_ptr<Model>> make_dlrm(const TrainerSpec& spec, const ModelShape& shape) {
  if (spec.device == "cpu") return make_cpu_dlrm(spec, shape);
  return make_device_dlrm(spec, shape);
}

constexpr TrainerEntry kEntry = {
    .abi = kTrainerAbi, .torch_version = TORCH_VERSION, .make_dlrm = make_dlrm};

}  // namespace
}  // namespace forebay

extern "C" __attribute__((visibility("default"))) const forebay::TrainerEntry*
forebay_trainer_entry() {
  // The model divides its work among threads itself; an operator inside has one.
  at::set_num_threads(1);
  return &forebay::kEntry;
}
