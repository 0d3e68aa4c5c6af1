#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/network_shape.h"
#include "trainer/state/memory_source.h"

namespace forebay {

/// The parameters of a network in their order, or the sums of their gradients.
using Parameters = std::span<const at::Tensor>;

/// Views of `values`, where the parameters are stored one after the other.
std::vector<at::Tensor> views_over(const ParameterShapes& parameters, float* values);

/// Appends the parameters to a model's state; names are the parameters' followed by `suffix`.
void append_state(const ParameterShapes& parameters, float* values, StateTensor::Part part,
                  std::vector<MemoryTensor>& tensors, const char* suffix = "");

/// The location of the vectors of a group's rows: that of feature f and row r is contiguous and
/// begins at data + f · feature_stride + r · row_stride.
struct VectorLocations {
  float* data = nullptr;
  std::size_t feature_stride = 0;
  std::size_t row_stride = 0;

  float* at(std::size_t feature, std::size_t row) const {
    return data + feature * feature_stride + row * row_stride;
  }
};

/// One thread's work on groups of rows: a network's forward and backward pass, written by hand
/// instead of recorded. With the default MLPs a tape makes a pass 1.7 to 2.8 times as long, with
/// those published for Criteo 1.1 to 1.25 times (tests/bench/README.md, "The network's pass").
///
/// Owns the activations of one group. The calls come in this order, group after group; backward is
/// skipped when only scores are wanted.
class GroupWorker {
 public:
  virtual ~GroupWorker() = default;

  /// For `rows` rows, at most kModelGroupRows: returns where the caller then puts the pooled
  /// vectors.
  virtual VectorLocations begin(std::size_t rows) = 0;

  /// Returns one logit per row. `dense` is [rows, bottom_input].
  virtual std::span<const float> forward(const at::Tensor& dense) = 0;

  /// Memory into which the caller puts the gradients of the logits before backward.
  virtual std::span<float> logit_gradients() = 0;

  /// Adds the gradients of the parameters to `sums`; writes those of the pooled vectors.
  virtual void backward(const at::Tensor& dense, Parameters sums,
                        const VectorLocations& vectors) = 0;
};

/// A model's function of dense values and pooled embedding vectors. Tables, optimizers, snapshots
/// and ranks are independent of the network.
///
/// Holds shapes only; parameters are passed in, so that any number of threads may use it.
class Network {
 public:
  explicit Network(const ModelShape& shape) : parameters_(parameters_of(shape)) {}
  virtual ~Network() = default;

  const ParameterShapes& parameters() const { return parameters_; }

  /// `weights` are views whose memory must stay; the network outlives the worker.
  virtual std::unique_ptr<GroupWorker> make_worker(Parameters weights) const = 0;

  /// Computes the same logits, [rows], in libtorch's differentiable operators, on any device;
  /// `vectors` is [rows, features, row_width].
  virtual at::Tensor record(Parameters weights, const at::Tensor& dense,
                            const at::Tensor& vectors) const = 0;

  /// The same computation as lines of TorchScript: the body of a method of a module that has the
  /// parameters under their script_name, from `dense` and `vectors` to its return value.
  virtual std::vector<std::string> script() const = 0;

 private:
  const ParameterShapes parameters_;
};

/// A parameter's name as an attribute in TorchScript: "bottom_0_weight".
std::string script_name(std::string name);

/// Makes the network of a shape's kind, which must be one that learns.
std::unique_ptr<Network> make_network(const ModelShape& shape);

// Each is defined in a file of its own.
std::unique_ptr<Network> make_dlrm(const ModelShape& shape);
std::unique_ptr<Network> make_dcn(const ModelShape& shape);
std::unique_ptr<Network> make_wide(const ModelShape& shape);

}  // namespace forebay
