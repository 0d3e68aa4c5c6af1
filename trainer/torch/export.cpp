#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <ATen/ops/empty.h>
#include <torch/csrc/jit/api/module.h>

#include "trainer/embedding/scored_rows.h"
#include "trainer/saving/durable_file.h"
#include "trainer/torch/libtorch.h"
#include "trainer/torch/module_functions.h"
#include "trainer/torch/network/network.h"

namespace forebay {
namespace {

std::string joined_lines(const std::vector<std::string>& lines, const std::string& indent) {
  std::string text;
  for (const std::string& line : lines) text += indent + line + "\n";
  return text;
}

/// TorchScript for the row of an id. In hashed tables: one more than the index of its key, or 0.
std::string rows_source(const TrainerSpec& spec) {
  if (spec.tables.storage != TrainerSpec::Storage::kHashed) {
    return "def rows(self, table: Tensor, keys: Tensor, ids: Tensor) -> Tensor:\n"
           "  return torch.remainder(ids, table.size(0))\n";
  }
  return "def rows(self, table: Tensor, keys: Tensor, ids: Tensor) -> Tensor:\n" +
         joined_lines({"if keys.size(0) == 0:", "  return torch.zeros_like(ids)",
                       "places = torch.searchsorted(keys, ids).clamp(max=keys.size(0) - 1)",
                       "own = keys.index_select(0, places) == ids",
                       "return torch.where(own, places + 1, torch.zeros_like(places))"},
                      "  ");
}

std::string pool_source(const TrainerSpec& spec) {
  std::vector<std::string> lines = {
      "bags = torch.repeat_interleave(counts)",
      "sums = torch.zeros([counts.size(0), table.size(1)], dtype=table.dtype, device=table.device)",
      "sums = sums.index_add(0, bags, table.index_select(0, rows))"};
  lines.emplace_back(spec.pooling == TrainerSpec::Pooling::kSum
                         ? "return sums"
                         : "return sums / counts.clamp(min=1).unsqueeze(1)");
  return "def pool(self, table: Tensor, rows: Tensor, counts: Tensor) -> Tensor:\n" +
         joined_lines(lines, "  ");
}

/// TorchScript lines that map one feature's ids to its vectors.
std::vector<std::string> vector_lines(const std::string& number) {
  return {
      "end = first + int(counts[" + number + "].sum())",
      "rows = self.rows(self.table_" + number + ", self.keys_" + number + ", ids[first:end])",
      "vector_" + number + " = self.pool(self.table_" + number + ", rows, counts[" + number + "])",
      "first = end"};
}

/// TorchScript that computes the dense values and vectors of a batch, and the network's output.
std::string forward_source(const ModelShape& shape, const Network& network) {
  std::vector<std::string> lines = {"counts = lengths.to(ids.dtype)", "first = 0"};
  std::string all;
  for (std::size_t feature = 0; feature < shape.table_rows.size(); ++feature) {
    const std::string number = std::to_string(feature);
    for (std::string& line : vector_lines(number)) lines.push_back(std::move(line));
    all.append(feature == 0 ? "vector_" : ", vector_").append(number);
  }
  const std::string width = std::to_string(shape.row_width());
  lines.push_back(all.empty() ? "vectors = torch.zeros([dense.size(0), 0, " + width +
                                    "], device=dense.device)"
                              : "vectors = torch.stack([" + all + "], 1)");
  if (shape.dense_features == 0) {
    lines.emplace_back("dense = torch.ones([counts.size(1), 1], device=vectors.device)");
  }
  for (std::string& line : network.script()) lines.push_back(std::move(line));
  return "def forward(self, dense: Tensor, ids: Tensor, lengths: Tensor) -> Tensor:\n" +
         joined_lines(lines, "  ");
}

/// The weights of a model by name, to be filled; the keys are filled already.
struct Weights {
  std::map<std::string, at::Tensor> network;
  std::vector<at::Tensor> tables;
  std::vector<at::Tensor> keys;
};

Weights empty_weights(const ModelShape& shape, const Network& network, const ScoredRows& rows) {
  Weights weights;
  for (const ParameterShape& parameter : network.parameters()) {
    weights.network[parameter.name] = at::empty(parameter.shape, at::kFloat);
  }
  for (std::size_t table = 0; table < rows.tables(); ++table) {
    weights.tables.push_back(
        at::empty({extent(rows.rows(table)), extent(shape.row_width())}, at::kFloat));
    const std::span<const std::int64_t> keys = rows.keys(table);
    weights.keys.push_back(at::empty({extent(keys.size())}, at::kLong));
    std::ranges::copy(keys, weights.keys.back().data_ptr<std::int64_t>());
  }
  return weights;
}

/// Reads a tensor of the network; returns false for another tensor.
Result<bool> take(const Weights& weights, StateSource& state, std::size_t index) {
  const StateTensor& tensor = state.tensors()[index];
  const auto found = weights.network.find(tensor.name);
  if (found == weights.network.end()) return false;
  const at::Tensor& to = found->second;
  if (tensor.type != ElementType::kF32 || tensor.shape != to.sizes().vec()) {
    return fail(Code::kCorrupt, tensor.name + " has other extents than the model");
  }
  auto read = state.read(index, 0, std::as_writable_bytes(values_of<float>(to)));
  if (!read) return pass(read);
  return true;
}

Status fill(const Weights& weights, ScoredRows& rows, StateSource& state) {
  ScoredRows::Tables tables;
  for (const at::Tensor& table : weights.tables) tables.push_back(values_of<float>(table));
  if (auto begun = rows.begin(state, std::move(tables)); !begun) return begun;
  std::size_t filled = 0;
  for (std::size_t index = 0; index < state.tensors().size(); ++index) {
    if (state.tensors()[index].part != StateTensor::Part::kWeights) continue;
    auto taken = take(weights, state, index);
    if (!taken) return pass(taken);
    filled += *taken ? 1 : 0;
    if (*taken) continue;
    if (auto row = rows.take(state, index); !row) return pass(row);
  }
  if (filled == weights.network.size()) return rows.end();
  return fail(Code::kCorrupt,
              "the checkpoint lacks " + std::to_string(weights.network.size() - filled) +
                  " of the network's " + std::to_string(weights.network.size()) + " tensors");
}

ExportedModel write(const ModelDescription& model, const Network& network, const Weights& weights,
                    const std::string& file) {
  torch::jit::Module module("forebay.Model");
  ExportedModel written;
  const auto add = [&](const std::string& name, const at::Tensor& values) {
    module.register_parameter(name, values, /*is_buffer=*/false);
    written.parameters += static_cast<std::uint64_t>(values.numel());
  };
  for (const auto& [name, values] : weights.network) add(script_name(name), values);
  for (std::size_t table = 0; table < weights.tables.size(); ++table) {
    add("table_" + std::to_string(table), weights.tables[table]);
    module.register_buffer("keys_" + std::to_string(table), weights.keys[table]);
  }
  module.register_attribute("forebay", c10::StringType::get(), to_json(model));
  module.define(rows_source(model.spec));
  module.define(pool_source(model.spec));
  module.define(forward_source(model.shape, network));
  module.save(file);
  written.bytes = std::filesystem::file_size(file);
  return written;
}

/// Renames `aside` to `file`; a power failure leaves either the earlier file or the whole new one.
Status take_place_of(const std::string& aside, const std::string& file) {
  if (auto synced = sync_to_disk(aside); !synced) return synced;
  std::error_code error;
  std::filesystem::rename(aside, file, error);
  if (error) {
    return fail(Code::kUnavailable, file + " cannot be written: " + error.message());
  }
  const auto folder = std::filesystem::absolute(file).parent_path();
  return sync_to_disk(folder.string());
}

}  // namespace

Result<ExportedModel> export_model(const ModelDescription& model, StateSource& state,
                                   const ExportTarget& target) {
  auto rows = ScoredRows::open(model.spec, model.shape, state);
  if (!rows) return pass(rows);
  if (target.fits) {
    const std::uint64_t bytes = (*rows)->bytes() + model.shape.dense_parameters() * sizeof(float);
    if (auto fits = target.fits(bytes); !fits) return pass(fits);
  }
  const auto network = make_network(model.shape);
  auto weights = guard_torch([&] { return empty_weights(model.shape, *network, **rows); });
  if (!weights) return pass(weights);
  if (auto filled = fill(*weights, **rows, state); !filled) return pass(filled);
  if (target.is_whole) {
    if (auto whole = target.is_whole(); !whole) return pass(whole);
  }
  const std::string aside = target.file + kExportAside;
  auto written = guard_torch([&] { return write(model, *network, *weights, aside); });
  const Status moved = written ? take_place_of(aside, target.file) : Status();
  if (written && moved) return written;
  std::error_code ignored;
  std::filesystem::remove(aside, ignored);
  if (!written) return written;
  return tl::unexpected<Error>(moved.error());
}

}  // namespace forebay
