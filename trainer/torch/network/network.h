#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/network_shape.h"
#include "trainer/state/snapshot.h"

namespace forebay {

/// The parameters of a network in their order.
using Parameters = std::span<const at::Tensor>;

/// The sums of the gradients of parameters, in their order.
struct GradientSums {
  std::span<const at::Tensor> tensors;
  bool are_empty = false;  ///< The next gradients replace what the tensors hold.

  GradientSums first(std::size_t count) const { return {tensors.first(count), are_empty}; }
  GradientSums from(std::size_t index) const { return {tensors.subspan(index), are_empty}; }
};

/// Views of `values`, where the parameters are stored one after the other.
std::vector<at::Tensor> views_over(const ParameterShapes& parameters, float* values);

/// Appends the parameters to a model's state; names are the parameters' followed by `suffix`.
void append_state(const ParameterShapes& parameters, float* values, StateTensor::Part part,
                  std::vector<MemoryTensor>& tensors, const char* suffix = "");

/// Fully connected layers with a ReLU after each (optional for the last one), and their gradients.
///
/// Holds shapes only; weights, gradients and activations are passed in, so that any number of
/// threads may use one Mlp. Its parameters are those of trainer/network_shape.h.
class Mlp {
 public:
  enum class Last : std::uint8_t { kRelu, kLinear };

  /// The memory that one thread needs for up to some number of rows. A layer computes in the type
  /// of its weights, float32 or bfloat16; the input and the output of all of them are float32.
  struct Activations {
    struct Layer {
      at::Tensor output, gradient;  ///< [rows, width], in the layer's type.
      /// [rows, width before], if what is before the layer has another type.
      at::Tensor input, input_gradient;
      at::Tensor weight_gradient;  ///< Of a layer in bfloat16: that of one pass.
    };
    std::vector<Layer> layers;
    at::Tensor output, gradient;  ///< [rows, last width]; the last layer's own in float32.
    at::Tensor ones;              ///< [rows]
  };

  Mlp(std::string name, std::vector<int> widths, Last last)
      : name_(std::move(name)), widths_(std::move(widths)), last_(last) {}

  /// Number of tensors among its parameters.
  std::size_t tensors() const { return 2 * widths_.size(); }

  Activations make_activations(Parameters weights, std::size_t rows) const;
  /// Views of the first `rows` rows of each tensor.
  static Activations first_rows(const Activations& all, std::size_t rows);

  /// Computes the output.
  void forward(Parameters weights, const at::Tensor& input, Activations& activations) const;

  /// Propagates `gradient`, which the caller fills: adds the parameters' gradients to `sums`,
  /// and writes the input's gradient if one is wanted.
  void backward(Parameters weights, const at::Tensor& input, Activations& activations,
                GradientSums sums, at::Tensor* input_gradient) const;

  /// Computes the same output in differentiable operators; layers compute in the types of their
  /// weights here, too.
  at::Tensor record(Parameters weights, at::Tensor x) const;
  /// The same computation as an expression in TorchScript.
  std::string script(std::string x) const;

 private:
  bool has_relu(std::size_t layer) const {
    return last_ == Last::kRelu || layer + 1 < widths_.size();
  }

  const std::string name_;
  const std::vector<int> widths_;
  const Last last_;
};

/// Low-rank cross layers (Wang et al. 2021): x[l+1] = x[0] ⊙ (W[l] (V[l] x[l]) + b[l]) + x[l].
///
/// Holds shapes only, as Mlp does. Its parameters are each layer's V, W and b.
class CrossLayers {
 public:
  /// The memory that one thread needs for up to some number of rows.
  struct Activations {
    std::vector<at::Tensor> inputs;   ///< x[0] … x[layers], [rows, width].
    std::vector<at::Tensor> narrow;   ///< V[l] x[l], [rows, rank].
    std::vector<at::Tensor> factors;  ///< The factor of x[0], [rows, width].
    at::Tensor gradient;              ///< Of the last output, then of each earlier input.
    at::Tensor input_gradient;        ///< The part of x[0]'s gradient that comes from the products.
    at::Tensor factor_gradient, narrow_gradient;
    at::Tensor ones;  ///< [rows]
    /// Operands in the type of V and W: x[0] … x[layers - 1], and the gradient of the factors.
    /// Copies in bfloat16; in float32 those tensors themselves.
    std::vector<at::Tensor> operands;
    at::Tensor wide;
    at::Tensor v_gradient, w_gradient;  ///< Of V and W in bfloat16: those of one pass.
  };

  explicit CrossLayers(const ModelShape& shape)
      : layers_(static_cast<std::size_t>(shape.cross_layers)),
        width_(static_cast<std::int64_t>(shape.top_input())) {}

  std::size_t tensors() const { return 3 * layers_; }

  Activations make_activations(Parameters weights, std::size_t rows) const;
  /// Views of the first `rows` rows of each tensor.
  static Activations first_rows(const Activations& all, std::size_t rows);

  /// Computes inputs.back() from inputs.front(), which the caller fills.
  void forward(Parameters weights, Activations& space) const;
  /// Computes the gradient of inputs.front() from `gradient`, which the caller fills with that of
  /// inputs.back(); adds the parameters' gradients to `sums`.
  void backward(Parameters weights, Activations& space, GradientSums sums) const;

  /// Computes the same output in differentiable operators.
  at::Tensor record(Parameters weights, const at::Tensor& input) const;
  /// The same computation as lines of TorchScript, from `x` to `x`.
  std::vector<std::string> script() const;

 private:
  const std::size_t layers_;
  const std::int64_t width_;
};

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
/// Owns the activations of one group; the last layers are an Mlp that ends in the logits. The calls
/// come in this order, group after group; backward is skipped when only scores are wanted.
class GroupWorker {
 public:
  virtual ~GroupWorker() = default;

  /// For `rows` rows, at most kModelGroupRows: returns where the caller then puts the pooled
  /// vectors.
  virtual VectorLocations begin(std::size_t rows) = 0;

  /// Returns one logit per row. `dense` is [rows, bottom_input].
  virtual std::span<const float> forward(const at::Tensor& dense) = 0;

  /// Memory into which the caller puts the gradients of the logits before backward.
  std::span<float> logit_gradients() { return {last_now_.gradient.data_ptr<float>(), rows_}; }

  /// Adds the gradients of the parameters to `sums`; writes those of the pooled vectors.
  virtual void backward(const at::Tensor& dense, GradientSums sums,
                        const VectorLocations& vectors) = 0;

 protected:
  GroupWorker(const Mlp& last, Parameters weights)
      : last_all_(last.make_activations(weights, kModelGroupRows)) {}

  /// Returns false if the last group had as many rows.
  bool resize(std::size_t rows) {
    if (rows_ == rows) return false;
    rows_ = rows;
    last_now_ = Mlp::first_rows(last_all_, rows);
    return true;
  }
  std::span<float> logits() { return {last_now_.output.data_ptr<float>(), rows_}; }

  std::size_t rows_ = 0;
  Mlp::Activations last_now_;  // For `rows_` rows.

 private:
  Mlp::Activations last_all_;  // For a whole group.
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

  /// `weights` are views whose memory must stay, those that may be rounded (ParameterShape::rounds)
  /// in float32 or bfloat16; the network outlives the worker.
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
