#include "trainer/model_description.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/text/json_text.h"

namespace forebay {
namespace {

using nlohmann::json;

constexpr int kDescriptionVersion = 1;
constexpr std::size_t kMostText = std::size_t{16} << 20;

constexpr std::string_view kAsDense = "as_dense";

std::string_view name_of(TrainerSpec::TableOptimizer optimizer) {
  if (optimizer == TrainerSpec::TableOptimizer::kAsDense) return kAsDense;
  return name_in(kTableOptimizerNames, optimizer);
}

/// Reads the value that `announced[key]` names; returns false if `names` does not have that name.
template <class T, std::size_t N>
bool take(const json& announced, const char* key, const EnumName<T> (&names)[N], T& value) {
  const auto named = value_in(names, announced.at(key).template get<std::string>());
  if (named) value = *named;
  return named.has_value();
}

bool take_table_optimizer(const json& announced, TrainerSpec::TableOptimizer& value) {
  value = TrainerSpec::TableOptimizer::kAsDense;
  return announced.at("table_optimizer") == kAsDense ||
         take(announced, "table_optimizer", kTableOptimizerNames, value);
}

/// Whether the sizes are within the limits of shape_of.
bool is_plausible(const ModelShape& shape) {
  const auto within = [](std::int64_t low, std::int64_t high) {
    return [=](std::int64_t value) { return value >= low && value <= high; };
  };
  const auto are_layers = [&](const std::vector<int>& widths, int last) {
    return !widths.empty() && widths.back() == last &&
           std::ranges::all_of(widths, within(1, 16384));
  };
  return within(1, 4096)(shape.embedding_dim) && within(0, 64)(shape.cross_layers) &&
         within(0, 16384)(shape.cross_rank) && are_layers(shape.top_mlp, 1) &&
         (shape.is_wide() ? std::ranges::all_of(shape.bottom_mlp, within(1, 16384))
                          : are_layers(shape.bottom_mlp, shape.embedding_dim)) &&
         std::ranges::all_of(shape.table_rows, within(1, std::int64_t{1} << 31));
}

/// Throws the library's exception for a value of another type.
std::optional<ModelDescription> read(const json& announced) {
  ModelDescription model;
  ModelShape& shape = model.shape;
  if (!take(announced, "model", kModelNames, model.spec.model) ||
      !take(announced, "optimizer", kOptimizerNames, model.spec.optimizer) ||
      !take_table_optimizer(announced, model.spec.table_optimizer) ||
      !take(announced, "pooling", kPoolingNames, model.spec.pooling) ||
      !take(announced, "storage", kStorageNames, model.spec.tables.storage)) {
    return std::nullopt;
  }
  model.spec.seed = announced.at("seed").get<std::uint64_t>();
  announced.at("dense").get_to(shape.dense_names);
  for (const json& table : announced.at("tables")) {
    shape.sparse_names.push_back(table.at("name").get<std::string>());
    shape.table_rows.push_back(table.at("rows").get<std::int64_t>());
  }
  shape.network = model.spec.model;
  shape.dense_features = shape.dense_names.size();
  announced.at("bottom_mlp").get_to(shape.bottom_mlp);
  announced.at("top_mlp").get_to(shape.top_mlp);
  announced.at("embedding_dim").get_to(shape.embedding_dim);
  announced.at("cross_layers").get_to(shape.cross_layers);
  announced.at("cross_rank").get_to(shape.cross_rank);
  model.spec.embedding_dim = shape.embedding_dim;
  if (learns(model.spec.model) && !is_plausible(shape)) return std::nullopt;
  return model;
}

}  // namespace

std::string to_json(const ModelDescription& model) {
  json tables = json::array();
  const ModelShape& shape = model.shape;
  for (std::size_t feature = 0; feature < shape.sparse_names.size(); ++feature) {
    tables.push_back({{"name", shape.sparse_names[feature]}, {"rows", shape.table_rows[feature]}});
  }
  const json announced = {{"version", kDescriptionVersion},
                          {"model", name_in(kModelNames, model.spec.model)},
                          {"optimizer", name_in(kOptimizerNames, model.spec.optimizer)},
                          {"table_optimizer", name_of(model.spec.table_optimizer)},
                          {"pooling", name_in(kPoolingNames, model.spec.pooling)},
                          {"storage", name_in(kStorageNames, model.spec.tables.storage)},
                          {"seed", model.spec.seed},
                          {"dense", shape.dense_names},
                          {"tables", std::move(tables)},
                          {"embedding_dim", model.shape.embedding_dim},
                          {"bottom_mlp", model.shape.bottom_mlp},
                          {"top_mlp", model.shape.top_mlp},
                          {"cross_layers", model.shape.cross_layers},
                          {"cross_rank", model.shape.cross_rank}};
  return json_text(announced, 1) + "\n";
}

// An untrained row is not stored: it is a function of the seed.
Status may_go_on(const ModelDescription& kept, const TrainerSpec& spec) {
  const auto same = [](const std::string& key, const std::string& was,
                       const std::string& is) -> Status {
    if (was == is) return {};
    return fail(Code::kInvalid, "resume refused: trainer." + key + " was " + was + ", is " + is);
  };
  const auto same_name = [&](const std::string& key, const auto& names, auto was, auto is) {
    return same(key, std::string(name_in(names, was)), std::string(name_in(names, is)));
  };
  const TrainerSpec& was = kept.spec;
  Status done = same_name("model", kModelNames, was.model, spec.model);
  if (!done || !learns(spec.model)) return done;
  done = same_name("pooling", kPoolingNames, was.pooling, spec.pooling);
  if (done) done = same("seed", std::to_string(was.seed), std::to_string(spec.seed));
  if (done) done = same_name("optimizer", kOptimizerNames, was.optimizer, spec.optimizer);
  if (!done) return done;
  return same_name("table_optimizer", kTableOptimizerNames, table_optimizer(was),
                   table_optimizer(spec));
}

Result<ModelDescription> parse_model(const std::string& text, const std::string& path) {
  const json announced = text.size() <= kMostText ? parse_json(text) : json();
  if (announced.is_object() && announced.contains("version") &&
      announced["version"] != kDescriptionVersion) {
    return fail(Code::kInvalid, path +
                                    " is of another version of the format; export it with the "
                                    "forebay that wrote it");
  }
  try {
    if (auto model = read(announced)) return std::move(*model);
  } catch (const json::exception&) {
    return fail(Code::kCorrupt, path + " is damaged");
  }
  return fail(Code::kCorrupt, path + " is damaged");
}

}  // namespace forebay
