#include "tuner/agent/network.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/random.h"
#include "core/base/whole_file.h"

namespace forebay::tuner {
namespace {

std::size_t size_of(const Network::Shape& shape) {
  const std::size_t hidden = shape.hidden;
  return (shape.inputs + 1) * hidden + (hidden + 1) * hidden + (hidden + 1) * shape.outputs;
}

// Sum of twelve uniforms: close enough to a normal, the same on every machine.
float normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return static_cast<float>(sum);
}

static_assert(std::endian::native == std::endian::little);

constexpr std::array<char, 8> kMagic{'F', 'B', 'I', 'N', 'T', 'U', 'N', '1'};
// Training leaves weights near 1e-38 to units that are never active. They are far too small to
// change an output, but their products are subnormal numbers, a hundred times as slow as others.
constexpr float kNegligible = 1e-30F;
constexpr std::size_t kHeader = kMagic.size() + 3 * sizeof(std::uint32_t);

std::uint64_t checksum(std::span<const unsigned char> bytes) {
  std::uint64_t sum = bytes.size();
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    sum = mix64(sum, word);
  }
  return sum;
}

std::span<const unsigned char> bytes_of(const std::string& text) {
  return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

template <class T>
void append(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::size_t file_size(Network::Shape shape) {
  return kHeader + Network(shape).weights().size() * sizeof(float) + sizeof(std::uint64_t);
}

tl::unexpected<Error> refused(const std::string& where, const std::string& why) {
  return fail(Code::kCorrupt,
              where + ": " + why + "; `forebay tune pretrain --out FILE` makes weights anew");
}

void rectify(std::span<float> values) {
  for (float& value : values) value = std::max(0.0F, value);
}

}  // namespace

Network::Network(Shape shape) : shape_(shape), weights_(size_of(shape), 0.0F) {}

Network::Network(Shape shape, Random& random) : Network(shape) {
  constexpr float kLastLayer = 0.1F;
  for (const Layer& layer : layers()) {
    float scale = std::sqrt(2.0F / static_cast<float>(layer.inputs));
    if (layer.weights == last_layer()) scale *= kLastLayer;
    for (std::size_t i = layer.weights; i < layer.biases; ++i) weights_[i] = scale * normal(random);
  }
}

std::array<Network::Layer, 3> Network::layers() const {
  std::array<Layer, 3> made{};
  const std::array<std::uint32_t, 4> widths{shape_.inputs, shape_.hidden, shape_.hidden,
                                            shape_.outputs};
  std::size_t at = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i] = {at, at + std::size_t{widths[i]} * widths[i + 1], widths[i], widths[i + 1]};
    at = made[i].biases + widths[i + 1];
  }
  return made;
}

std::size_t Network::last_layer() const { return layers()[2].weights; }

// The outputs from `first` on. Their sums stay in registers: sums in memory would wait for the
// store of each input's products before the next input's.
template <std::uint32_t kWidth>
void Network::apply_block(const Layer& layer, std::span<const float> input, std::span<float> output,
                          std::uint32_t first) const {
  std::array<float, kWidth> sums{};
  std::copy_n(weights_.data() + layer.biases + first, kWidth, sums.begin());
  const float* row = weights_.data() + layer.weights + first;
  for (std::uint32_t i = 0; i < layer.inputs; ++i, row += layer.outputs) {
    for (std::uint32_t o = 0; o < kWidth; ++o) sums[o] += input[i] * row[o];
  }
  std::copy(sums.begin(), sums.end(), output.begin() + first);
}

void Network::apply(const Layer& layer, std::span<const float> input,
                    std::span<float> output) const {
  std::uint32_t first = 0;
  for (; first + 16 <= layer.outputs; first += 16) apply_block<16>(layer, input, output, first);
  for (; first + 4 <= layer.outputs; first += 4) apply_block<4>(layer, input, output, first);
  for (; first < layer.outputs; ++first) apply_block<1>(layer, input, output, first);
}

void Network::forward(std::span<const float> input, std::span<float> output, Trace* trace) const {
  thread_local Trace scratch;
  Trace& held = trace != nullptr ? *trace : scratch;
  held.input.assign(input.begin(), input.end());
  held.first.resize(shape_.hidden);
  held.second.resize(shape_.hidden);
  const auto stack = layers();
  apply(stack[0], held.input, held.first);
  rectify(held.first);
  apply(stack[1], held.first, held.second);
  rectify(held.second);
  apply(stack[2], held.second, output);
}

float Network::output_of(const Trace& trace, std::size_t output) const {
  const Layer layer = layers()[2];
  float sum = weights_[layer.biases + output];
  const float* weight = weights_.data() + layer.weights + output;
  for (std::uint32_t i = 0; i < layer.inputs; ++i, weight += layer.outputs) {
    sum += trace.second[i] * *weight;
  }
  return sum;
}

void Network::step_last_layer(const Trace& trace, std::size_t output, float output_gradient,
                              float rate) {
  const Layer layer = layers()[2];
  weights_[layer.biases + output] -= rate * output_gradient;
  float* weight = weights_.data() + layer.weights + output;
  for (std::uint32_t i = 0; i < layer.inputs; ++i, weight += layer.outputs) {
    *weight -= rate * (trace.second[i] * output_gradient);
  }
}

void Network::learn(const Layer& layer, std::span<const float> input,
                    std::span<const float> output_gradient, std::span<float> input_gradient,
                    std::span<float> gradient) const {
  float* biases = gradient.data() + layer.biases;
  for (std::uint32_t o = 0; o < layer.outputs; ++o) biases[o] += output_gradient[o];
  for (std::uint32_t i = 0; i < layer.inputs; ++i) {
    const std::size_t at = layer.weights + std::size_t{i} * layer.outputs;
    const float* row = weights_.data() + at;
    float* slope = gradient.data() + at;
    float sum = 0;
    for (std::uint32_t o = 0; o < layer.outputs; ++o) sum += row[o] * output_gradient[o];
    if (!input_gradient.empty()) input_gradient[i] = input[i] > 0 ? sum : 0;
    if (input[i] == 0) continue;
    for (std::uint32_t o = 0; o < layer.outputs; ++o) slope[o] += input[i] * output_gradient[o];
  }
}

void Network::backward(const Trace& trace, std::span<const float> output_gradient,
                       std::span<float> gradient) const {
  thread_local std::vector<float> first, second;
  first.resize(shape_.hidden);
  second.resize(shape_.hidden);
  const auto stack = layers();
  learn(stack[2], trace.second, output_gradient, second, gradient);
  learn(stack[1], trace.first, second, first, gradient);
  learn(stack[0], trace.input, first, {}, gradient);
}

void Adam::step(std::span<float> weights, std::span<const float> gradient) {
  constexpr float kMean = 0.9F;
  constexpr float kSquare = 0.999F;
  constexpr float kTiny = 1e-8F;
  mean_decay_ *= kMean;
  square_decay_ *= kSquare;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    mean_[i] += (1 - kMean) * (gradient[i] - mean_[i]);
    square_[i] += (1 - kSquare) * (gradient[i] * gradient[i] - square_[i]);
    const float mean = mean_[i] / (1 - mean_decay_);
    const float square = square_[i] / (1 - square_decay_);
    weights[i] -= rate_ * mean / (std::sqrt(square) + kTiny);
  }
}

std::string encode_weights(const Network& network) {
  std::string text(kMagic.data(), kMagic.size());
  append(text, network.shape().inputs);
  append(text, network.shape().hidden);
  append(text, network.shape().outputs);
  for (const float weight : network.weights()) append(text, weight);
  append(text, checksum(bytes_of(text)));
  return text;
}

bool are_weights(std::string_view begin) {
  return begin.starts_with(std::string_view(kMagic.data(), kMagic.size() - 1));
}

Result<Network> decode_weights(std::span<const unsigned char> bytes, Network::Shape shape,
                               const std::string& where) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (bytes.size() < kHeader || !are_weights(text)) {
    return refused(where, "no weights of intune");
  }
  if (bytes[kMagic.size() - 1] != static_cast<unsigned char>(kMagic.back())) {
    return refused(where, "weights of another version");
  }
  Network::Shape found;
  std::memcpy(&found, bytes.data() + kMagic.size(), sizeof found);
  if (found != shape) return refused(where, "weights of another network");
  if (bytes.size() != file_size(shape)) return refused(where, "weights cut short or too long");
  const std::span<const unsigned char> summed = bytes.first(bytes.size() - sizeof(std::uint64_t));
  std::uint64_t sum = 0;
  std::memcpy(&sum, summed.data() + summed.size(), sizeof sum);
  if (sum != checksum(summed)) return refused(where, "damaged weights");

  Network network(shape);
  std::memcpy(network.weights().data(), bytes.data() + kHeader,
              network.weights().size() * sizeof(float));
  for (float& weight : network.weights()) {
    if (!std::isfinite(weight)) return refused(where, "weights that are no numbers");
    if (std::abs(weight) < kNegligible) weight = 0;
  }
  return network;
}

Result<Network> read_weights(const std::string& path, Network::Shape shape) {
  const auto text = read_whole(path, file_size(shape));
  if (!text) return fail(text.error().code, text.error().message);
  return decode_weights(
      std::span(reinterpret_cast<const unsigned char*>(text->data()), text->size()), shape, path);
}

}  // namespace forebay::tuner
