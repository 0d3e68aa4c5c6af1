#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/memory_source.h"
#include "trainer/spec.h"

namespace forebay {

/// A parameter of a network: its name, such as "bottom.0.weight", and its extents.
struct ParameterShape {
  std::string name;
  std::vector<std::int64_t> shape;

  std::size_t size() const;
};
using ParameterShapes = std::vector<ParameterShape>;

/// The parameters of a network in their order, or the sums of their gradients.
using Parameters = std::span<const at::Tensor>;

std::size_t size_of(const ParameterShapes& parameters);

/// Views of `values`, where the parameters lie one after the other.
std::vector<at::Tensor> views_over(const ParameterShapes& parameters, float* values);

/// Appends them to a model's state; names are the parameters' with `suffix` after them.
void append_state(const ParameterShapes& parameters, float* values, StateTensor::Part part,
                  std::vector<MemoryTensor>& tensors, const char* suffix = "");

/// Where the vectors of a group's rows lie: that of feature f and row r is contiguous and begins at
/// data + f · feature_stride + r · row_stride.
struct VectorLocations {
  float* data = nullptr;
  std::size_t feature_stride = 0;
  std::size_t row_stride = 0;

  float* at(std::size_t feature, std::size_t row) const {
    return data + feature * feature_stride + row * row_stride;
  }
};

/// One thread's work on groups of rows: a network's forward and backward pass, written out instead
/// of recorded. Layers are small, and a tape would cost as much as they do.
///
/// Owns the activations of one group. The calls come in this order, group after group; backward is
/// left out where only scores are wanted.
class GroupWorker {
 public:
  virtual ~GroupWorker() = default;

  /// For `rows` rows, at most kModelGroupRows: where the caller then puts the pooled vectors.
  virtual VectorLocations begin(std::size_t rows) = 0;

  /// A logit a row. `dense` is [rows, bottom_input].
  virtual std::span<const float> forward(const at::Tensor& dense) = 0;

  /// Where the caller puts the gradients of the logits before backward.
  virtual std::span<float> logit_gradients() = 0;

  /// Adds the gradients of the parameters to `sums`; writes those of the pooled vectors.
  virtual void backward(const at::Tensor& dense, Parameters sums,
                        const VectorLocations& vectors) = 0;
};

/// What a model does with dense values and pooled embedding vectors. Tables, optimizers, snapshots
/// and ranks know nothing of which network it is.
///
/// Knows shapes only; parameters are handed in, so that any number of threads may use it.
class Network {
 public:
  virtual ~Network() = default;

  virtual const ParameterShapes& parameters() const = 0;

  /// Starts the parameters as published, as a function of the seed alone.
  virtual void initialise(std::span<float> values, std::uint64_t seed) const = 0;

  /// `weights` are views that stay where they are; the network outlives the worker.
  virtual std::unique_ptr<GroupWorker> make_worker(Parameters weights) const = 0;

  /// The same logits, [rows], in libtorch's differentiable operators, on any device; `vectors` is
  /// [rows, features, row_width].
  virtual at::Tensor record(Parameters weights, const at::Tensor& dense,
                            const at::Tensor& vectors) const = 0;

  /// The same once more as lines of TorchScript: the body of a method of a module that has the
  /// parameters under their script_name, from `dense` and `vectors` to what it returns.
  virtual std::vector<std::string> script() const = 0;
};

/// A parameter's name as an attribute in TorchScript: "bottom_0_weight".
std::string script_name(std::string name);

/// The network of a shape's kind, which has to be one that learns.
std::unique_ptr<Network> make_network(const ModelShape& shape);

// One file each.
std::unique_ptr<Network> make_dlrm(const ModelShape& shape);
std::unique_ptr<Network> make_dcn(const ModelShape& shape);
std::unique_ptr<Network> make_wide(const ModelShape& shape);

/// Which stream of a seed's random numbers starts which part; the tables' streams count from 0.
inline constexpr std::uint64_t kBottomStream = ~std::uint64_t{0};
inline constexpr std::uint64_t kTopStream = ~std::uint64_t{1};
inline constexpr std::uint64_t kCrossStream = ~std::uint64_t{2};

}  // namespace forebay
