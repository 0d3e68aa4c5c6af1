#include "trainer/model_description.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/json_text.h"

namespace forebay {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kMostText = std::size_t{16} << 20;

template <class T>
struct Name {
  std::string_view name;
  T value;
};
template <class T>
Name(const char*, T) -> Name<T>;

constexpr std::array kKinds = {Name{"dlrm", TrainerSpec::ModelKind::kDlrm},
                               Name{"dcn_v2", TrainerSpec::ModelKind::kDcnV2},
                               Name{"wide_deep", TrainerSpec::ModelKind::kWideDeep},
                               Name{"deepfm", TrainerSpec::ModelKind::kDeepFm},
                               Name{"emulated", TrainerSpec::ModelKind::kEmulated},
                               Name{"none", TrainerSpec::ModelKind::kNone}};
constexpr std::array kOptimizers = {Name{"sgd", TrainerSpec::Optimizer::kSgd},
                                    Name{"adagrad", TrainerSpec::Optimizer::kAdagrad},
                                    Name{"adam", TrainerSpec::Optimizer::kAdam}};
constexpr std::array kTableOptimizers = {
    Name{"as_dense", TrainerSpec::TableOptimizer::kAsDense},
    Name{"sgd", TrainerSpec::TableOptimizer::kSgd},
    Name{"adagrad", TrainerSpec::TableOptimizer::kAdagrad},
    Name{"rowwise_adagrad", TrainerSpec::TableOptimizer::kRowwiseAdagrad}};
constexpr std::array kPoolings = {Name{"sum", TrainerSpec::Pooling::kSum},
                                  Name{"mean", TrainerSpec::Pooling::kMean}};
constexpr std::array kStorages = {Name{"memory", TrainerSpec::Storage::kMemory},
                                  Name{"hashed", TrainerSpec::Storage::kHashed},
                                  Name{"tiered", TrainerSpec::Storage::kTiered}};

template <class Names, class T>
std::string name_in(const Names& names, T value) {
  for (const auto& [name, named] : names) {
    if (named == value) return std::string(name);
  }
  return {};
}

/// Reads the value that `announced[key]` names; returns false if `names` does not have that name.
template <class Names, class T>
bool take(const json& announced, const char* key, const Names& names, T& value) {
  const std::string wanted = announced.at(key).template get<std::string>();
  for (const auto& [name, named] : names) {
    if (name == wanted) {
      value = named;
      return true;
    }
  }
  return false;
}

/// Whether the sizes are within the limits of shape_of.
bool is_plausible(const ModelDescription& model) {
  const ModelShape& shape = model.shape;
  const auto within = [](std::int64_t value, std::int64_t low, std::int64_t high) {
    return value >= low && value <= high;
  };
  if (!within(shape.embedding_dim, 1, 4096) || !within(shape.cross_layers, 0, 64) ||
      !within(shape.cross_rank, 0, 16384) || shape.top_mlp.empty() || shape.top_mlp.back() != 1) {
    return false;
  }
  if (!shape.is_wide() &&
      (shape.bottom_mlp.empty() || shape.bottom_mlp.back() != shape.embedding_dim)) {
    return false;
  }
  for (const auto* widths : {&shape.bottom_mlp, &shape.top_mlp}) {
    for (const int width : *widths) {
      if (!within(width, 1, 16384)) return false;
    }
  }
  for (const std::int64_t rows : shape.table_rows) {
    if (!within(rows, 1, std::int64_t{1} << 31)) return false;
  }
  return true;
}

/// Throws the library's exception for a value of another type.
std::optional<ModelDescription> read(const json& announced) {
  ModelDescription model;
  ModelShape& shape = model.shape;
  if (!take(announced, "model", kKinds, model.spec.model) ||
      !take(announced, "optimizer", kOptimizers, model.spec.optimizer) ||
      !take(announced, "table_optimizer", kTableOptimizers, model.spec.table_optimizer) ||
      !take(announced, "pooling", kPoolings, model.spec.pooling) ||
      !take(announced, "storage", kStorages, model.spec.tables.storage)) {
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
  if (learns(model.spec.model) && !is_plausible(model)) return std::nullopt;
  return model;
}

}  // namespace

std::string to_json(const ModelDescription& model) {
  json tables = json::array();
  const ModelShape& shape = model.shape;
  for (std::size_t feature = 0; feature < shape.sparse_names.size(); ++feature) {
    tables.push_back({{"name", shape.sparse_names[feature]}, {"rows", shape.table_rows[feature]}});
  }
  const json announced = {
      {"version", kVersion},
      {"model", name_in(kKinds, model.spec.model)},
      {"optimizer", name_in(kOptimizers, model.spec.optimizer)},
      {"table_optimizer", name_in(kTableOptimizers, model.spec.table_optimizer)},
      {"pooling", name_in(kPoolings, model.spec.pooling)},
      {"storage", name_in(kStorages, model.spec.tables.storage)},
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
  const auto model = [](const TrainerSpec& of) { return name_in(kKinds, of.model); };
  const auto pooling = [](const TrainerSpec& of) { return name_in(kPoolings, of.pooling); };
  const auto dense = [](const TrainerSpec& of) { return name_in(kOptimizers, of.optimizer); };
  const auto tables = [](const TrainerSpec& of) {
    return name_in(kTableOptimizers, table_optimizer(of));
  };
  Status done = same("model", model(kept.spec), model(spec));
  if (done && learns(spec.model)) {
    done = same("pooling", pooling(kept.spec), pooling(spec));
    if (done) done = same("seed", std::to_string(kept.spec.seed), std::to_string(spec.seed));
    if (done) done = same("optimizer", dense(kept.spec), dense(spec));
    if (done) done = same("table_optimizer", tables(kept.spec), tables(spec));
  }
  return done;
}

Result<ModelDescription> parse_model(const std::string& text, const std::string& path) {
  const json announced = text.size() <= kMostText ? parse_json(text) : json();
  if (announced.is_object() && announced.contains("version") && announced["version"] != kVersion) {
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
