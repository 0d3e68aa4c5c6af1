#include <ATen/Parallel.h>
#include <torch/version.h>

#include "trainer/entry.h"
#include "trainer/torch/c10d_collective.h"
#include "trainer/torch/export.h"
#include "trainer/torch/models.h"

namespace forebay {
namespace {

Result<std::unique_ptr<Model>> make_model(const TrainerSpec& spec, const ModelShape& shape,
                                          Collective* ranks) {
  if (ranks != nullptr && spec.device != "cpu") {
    return fail(Code::kInvalid, "trainer.device is " + spec.device +
                                    ", and several ranks (WORLD_SIZE) train on the cpu only");
  }
  if (spec.device == "cpu") return make_cpu_model(spec, shape, ranks);
  return make_autograd_model(spec, shape);
}

constexpr TrainerEntry kEntry = {.abi = kTrainerAbi,
                                 .torch_version = TORCH_VERSION,
                                 .make_model = make_model,
                                 .export_model = export_model,
                                 .make_collective = make_c10d_collective};

}  // namespace
}  // namespace forebay

extern "C" __attribute__((visibility("default"))) const forebay::TrainerEntry*
forebay_trainer_entry() {
  // The model divides its work among threads itself; an operator inside has one.
  at::set_num_threads(1);
  return &forebay::kEntry;
}
