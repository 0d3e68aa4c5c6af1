#include "trainer/torch/network/network.h"

#include <algorithm>
#include <utility>

#include <ATen/ops/from_blob.h>

namespace forebay {

std::vector<at::Tensor> views_over(const ParameterShapes& parameters, float* values) {
  std::vector<at::Tensor> views;
  views.reserve(parameters.size());
  for (const ParameterShape& parameter : parameters) {
    views.push_back(at::from_blob(values, parameter.shape, at::kFloat));
    values += parameter.size();
  }
  return views;
}

void append_state(const ParameterShapes& parameters, float* values, StateTensor::Part part,
                  std::vector<MemoryTensor>& tensors, const char* suffix) {
  for (const ParameterShape& parameter : parameters) {
    StateTensor tensor{.name = parameter.name + suffix, .part = part, .shape = parameter.shape};
    tensors.push_back(in_memory(std::move(tensor), {values, parameter.size()}));
    values += parameter.size();
  }
}

std::string script_name(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

std::unique_ptr<Network> make_network(const ModelShape& shape) {
  if (shape.is_wide()) return make_wide(shape);
  if (shape.network == TrainerSpec::ModelKind::kDcnV2) return make_dcn(shape);
  return make_dlrm(shape);
}

}  // namespace forebay
