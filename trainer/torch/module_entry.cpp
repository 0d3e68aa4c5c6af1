#include <optional>
#include <string_view>

#include <ATen/Parallel.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include "core/base/text/number.h"
#include "trainer/module.h"
#include "trainer/torch/module_functions.h"

namespace forebay {
namespace {

/// The number of "cuda" (0) or "cuda:N"; empty for any other device.
std::optional<std::size_t> gpu_number(std::string_view device) {
  if (device == "cuda") return 0;
  constexpr std::string_view kNumbered = "cuda:";
  if (!device.starts_with(kNumbered)) return std::nullopt;
  device.remove_prefix(kNumbered.size());
  return parse_number<std::size_t>(device);
}

/// Checks a device that is not the CPU.
Status check_device(const std::string& device) {
  const auto number = gpu_number(device);
  if (!number) {
    return fail(Code::kInvalid,
                "trainer.device is " + device + ", but must be cpu, cuda or cuda:N");
  }
  const std::size_t gpus = torch::cuda::device_count();
  if (*number < gpus) return {};
  return fail(Code::kInvalid, "trainer.device is " + device +
                                  ", but libtorch " TORCH_VERSION " finds " + std::to_string(gpus) +
                                  " GPUs here; set it to cpu, or give"
                                  " the machine a GPU and Forebay a libtorch built with CUDA");
}

Result<std::unique_ptr<Model>> make_model(const TrainerSpec& spec, const ModelShape& shape,
                                          Collective* ranks) {
  if (ranks != nullptr && spec.device != "cpu") {
    return fail(Code::kInvalid, "trainer.device is " + spec.device +
                                    ", and several ranks (WORLD_SIZE) train on the cpu only");
  }
  if (spec.device == "cpu") return make_cpu_model(spec, shape, ranks);
  if (auto there = check_device(spec.device); !there) return pass(there);
  return make_autograd_model(spec, shape);
}

constexpr TrainerEntry kEntry = {.abi = kTrainerAbi,
                                 .torch_version = TORCH_VERSION,
                                 .make_model = make_model,
                                 .export_model = export_model,
                                 .open_rank_store = open_c10d_store};

}  // namespace
}  // namespace forebay

extern "C" __attribute__((visibility("default"))) const forebay::TrainerEntry*
forebay_trainer_entry() {
  // The model divides its work among threads itself, so an operator uses one thread.
  at::set_num_threads(1);
  return &forebay::kEntry;
}
