#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainer/spec.h"

namespace forebay {

/// A parameter of a network: its name, such as "bottom.0.weight", its extents and its first values.
struct ParameterShape {
  std::string name;
  std::vector<std::int64_t> shape;
  std::uint64_t stream = 0;  ///< Of the seed's random numbers, which consecutive parameters share.
  double deviation = 0;      ///< Of normal first values; 0: they are 0.
  bool rounds = false;       ///< Whether TrainerSpec::Precision::kBf16 rounds it for products.

  std::size_t size() const;
};
using ParameterShapes = std::vector<ParameterShape>;

/// The parameters of a model's network in their order: the one definition that models on any
/// device, checkpoints, exports and the reckoning of memory share. First values are as published.
ParameterShapes parameters_of(const ModelShape& shape);

/// Number of values of all parameters.
std::size_t size_of(const ParameterShapes& parameters);

/// Draws the first values, a function of the seed alone.
void initialise(const ParameterShapes& parameters, std::uint64_t seed, std::span<float> values);

/// Number of activations and gradients of a batch's row in the network.
std::uint64_t row_activations(const ModelShape& shape);

/// Number of values of all parameters that kBf16 rounds.
std::uint64_t rounded_parameters(const ModelShape& shape);

}  // namespace forebay
