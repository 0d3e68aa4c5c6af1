#include "trainer/network_shape.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/random.h"

namespace forebay {
namespace {

// Streams of a seed's random numbers; those of the tables count from 0.
constexpr std::uint64_t kBottomStream = ~std::uint64_t{0};
constexpr std::uint64_t kTopStream = ~std::uint64_t{1};
constexpr std::uint64_t kCrossStream = ~std::uint64_t{2};

/// The width of a layer's output for rows, and for parameters.
std::int64_t extent(std::size_t width) { return static_cast<std::int64_t>(width); }

double glorot(std::int64_t in, std::int64_t out) {
  return std::sqrt(2 / static_cast<double>(in + out));
}

/// Layers with fewer inputs or outputs are not rounded: their products take less time than the
/// conversions. The last layer, which makes the logits, is always such a layer.
constexpr std::int64_t kLeastRounded = 16;

/// Fully connected layers: normal weights, [out, in], and biases, [out] (Naumov et al. 2019).
void append_mlp(const std::string& name, std::int64_t in, const std::vector<int>& widths,
                std::uint64_t stream, ParameterShapes& all) {
  for (std::size_t layer = 0; layer < widths.size(); ++layer) {
    const std::int64_t out = widths[layer];
    const std::string prefix = name + "." + std::to_string(layer);
    const bool rounds = std::min(in, out) >= kLeastRounded;
    all.push_back({prefix + ".weight", {out, in}, stream, glorot(in, out), rounds});
    all.push_back(
        {prefix + ".bias", {out}, stream, std::sqrt(1 / static_cast<double>(out)), rounds});
    in = out;
  }
}

/// Low-rank cross layers: V [rank, width], W [width, rank] and b [width]; weights as MLPerf's
/// reference draws them.
void append_cross(const ModelShape& shape, ParameterShapes& all) {
  const std::int64_t width = extent(shape.top_input());
  const std::int64_t rank = shape.cross_rank;
  for (int layer = 0; layer < shape.cross_layers; ++layer) {
    const std::string prefix = "cross." + std::to_string(layer);
    const bool rounds = std::min(rank, width) >= kLeastRounded;
    all.push_back({prefix + ".v", {rank, width}, kCrossStream, glorot(width, rank), rounds});
    all.push_back({prefix + ".w", {width, rank}, kCrossStream, glorot(width, rank), rounds});
    all.push_back({prefix + ".bias", {width}, kCrossStream, 0});
  }
}

void fill_normal(std::span<float> values, double deviation, Random& random) {
  for (float& value : values) {
    // Box and Muller; 1 - u is never 0.
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    const double angle = 2 * std::numbers::pi * random.uniform();
    value = static_cast<float>(deviation * radius * std::cos(angle));
  }
}

std::uint64_t sum_of(const std::vector<int>& widths) {
  std::uint64_t total = 0;
  for (int width : widths) total += static_cast<std::uint64_t>(width);
  return total;
}

}  // namespace

std::size_t ParameterShape::size() const {
  std::size_t values = 1;
  for (const std::int64_t extent : shape) values *= static_cast<std::size_t>(extent);
  return values;
}

bool ModelShape::is_wide() const {
  return network == TrainerSpec::ModelKind::kWideDeep || network == TrainerSpec::ModelKind::kDeepFm;
}

std::size_t ModelShape::top_input() const {
  const auto dim = static_cast<std::size_t>(embedding_dim);
  const std::size_t vectors = table_rows.size() + 1;
  if (is_wide()) return bottom_input() + table_rows.size() * dim;
  if (network == TrainerSpec::ModelKind::kDcnV2) return vectors * dim;
  return dim + vectors * (vectors - 1) / 2;
}

std::uint64_t ModelShape::dense_parameters() const { return size_of(parameters_of(*this)); }

ParameterShapes parameters_of(const ModelShape& shape) {
  ParameterShapes all;
  const std::int64_t dense = extent(shape.bottom_input());
  const std::int64_t top = extent(shape.top_input());
  if (shape.is_wide()) {
    all.push_back({"wide.weight", {dense}});
    append_mlp("deep", top, shape.top_mlp, kTopStream, all);
    return all;
  }
  append_mlp("bottom", dense, shape.bottom_mlp, kBottomStream, all);
  if (shape.network == TrainerSpec::ModelKind::kDcnV2) append_cross(shape, all);
  append_mlp("top", top, shape.top_mlp, kTopStream, all);
  return all;
}

std::size_t size_of(const ParameterShapes& parameters) {
  std::size_t values = 0;
  for (const ParameterShape& parameter : parameters) values += parameter.size();
  return values;
}

void initialise(const ParameterShapes& parameters, std::uint64_t seed, std::span<float> values) {
  std::uint64_t stream = 0;
  Random random(0);
  for (const ParameterShape& parameter : parameters) {
    if (parameter.stream != stream) random = Random(mix64(seed, stream = parameter.stream));
    const std::span<float> own = values.first(parameter.size());
    values = values.subspan(own.size());
    if (parameter.deviation == 0) {
      std::ranges::fill(own, 0.0f);
    } else {
      fill_normal(own, parameter.deviation, random);
    }
  }
}

std::uint64_t rounded_parameters(const ModelShape& shape) {
  std::uint64_t total = 0;
  for (const ParameterShape& parameter : parameters_of(shape)) {
    if (parameter.rounds) total += parameter.size();
  }
  return total;
}

std::uint64_t row_activations(const ModelShape& shape) {
  const std::uint64_t vectors = shape.table_rows.size() + 1;
  return 2 * (shape.bottom_input() + shape.top_input() + vectors * shape.row_width() +
              sum_of(shape.bottom_mlp) + sum_of(shape.top_mlp)) +
         vectors * vectors +
         static_cast<std::uint64_t>(shape.cross_layers) * 2 *
             (shape.top_input() + static_cast<std::uint64_t>(shape.cross_rank));
}

}  // namespace forebay
