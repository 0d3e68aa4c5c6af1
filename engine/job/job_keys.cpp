#include "engine/job/job_keys.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/text/nearest.h"
#include "engine/job/job_key.h"

namespace forebay {
namespace {

constexpr double kMostBatch = 16777216;  // 2²⁴ rows.
constexpr double kMostCpus = 4096;
constexpr double kMostModelThreads = 1024;
constexpr double kMostActors = 1024;
constexpr double kDay = 86400;
constexpr double kMostPrice = 1000;

using Placement = TrainerSpec::Placement;
constexpr EnumName<Placement> kPlacements[] = {{"auto", Placement::kAuto},
                                               {"table", Placement::kTable},
                                               {"row", Placement::kRow},
                                               {"replicated", Placement::kReplicated}};
using Auc = TrainerSpec::Auc;
constexpr EnumName<Auc> kAucs[] = {
    {"auto", Auc::kAuto}, {"exact", Auc::kExact}, {"streaming", Auc::kStreaming}};
constexpr EnumName<TrainerSpec::Metric> kMetrics[] = {{"log_loss", TrainerSpec::Metric::kLogLoss},
                                                      {"auc", TrainerSpec::Metric::kAuc}};

using Keys = std::vector<JobKey>;

Keys data_keys(JobSpec& job) {
  DatasetSpec& dataset = job.dataset;
  OrderSpec& order = job.order;
  return {
      text("dataset.format", dataset.format),  // open_dataset() knows the formats
      texts("dataset.paths", dataset.paths),
      count("dataset.bad_rows", dataset.bad_rows, 0),
      size("dataset.max_row_bytes", dataset.max_row_bytes, 64, 0x1p30),
      letter("dataset.csv.delimiter", dataset.csv.delimiter),
      flag("dataset.csv.header", dataset.csv.header),
      letter("dataset.csv.list_delimiter", dataset.csv.list_delimiter),
      text("columns.label", job.columns.label),
      texts("columns.dense", job.columns.dense),
      texts("columns.sparse", job.columns.sparse),
      number("columns.label_threshold", job.columns.label_threshold),
      text("columns.weight", job.columns.weight),
      texts("columns.extra", job.columns.extra),
      groups("columns.dedup", job.columns.dedup),
      count("order.seed", order.seed, 0),
      shuffle("order.shuffle", order.shuffle),
      choice("order.mode", order.mode, kOrderModeNames),
      count("order.epochs", order.epochs, 1, 1e9),
      count("order.batch_size", order.batch_size, 1, kMostBatch),
      flag("order.drop_last", order.drop_last),
      size("order.shuffle_memory", order.shuffle_memory, 0x1p20, 0x1p40),
  };
}

Keys storage_keys(StorageSpec& storage) {
  return {
      text("storage.endpoint", storage.endpoint),
      text("storage.region", storage.region),
      credentials("storage.credentials", storage.credentials),
      count("storage.connections", storage.connections, 1, 1024),
      duration("storage.timeout", storage.timeout, 0.1, 3600),
      duration("storage.give_up_after", storage.give_up_after, 0.1, kDay),
      number("storage.request_price", storage.request_price, 0, kMostPrice),
      number("storage.byte_price", storage.byte_price, 0, kMostPrice),
  };
}

Keys pipeline_keys(JobSpec& job) {
  PipelineSpec& pipeline = job.pipeline;
  return {
      count("pipeline.cpus", pipeline.cpus, 1, kMostCpus),
      size("pipeline.memory", pipeline.memory_bytes, 0x1p20, 0x1p60),
      size("pipeline.prefetch", pipeline.prefetch_bytes, 1, 0x1p60),
      count("pipeline.max_actors", job.max_actors, 1, kMostActors),
      flag("pipeline.optimize", pipeline.optimize),
      fuse("pipeline.fuse", pipeline.fuse),
      choice("tuner.mode", job.tuner.mode, {"off", "advise", "on"}),
      text("tuner.policy", job.tuner.policy),
      choice("tuner.reward", job.tuner.reward, {"usable", "paper"}),
      duration("tuner.period", job.tuner.period, 0.1, kDay),
  };
}

/// One key for each stage of the job.
Keys allocation_keys(JobSpec& job) {
  Keys keys;
  for (std::size_t i = 0; i < job.stages.size(); ++i) {
    keys.push_back(count(std::string(kAllocationKey) + job.stages[i].name, job.pipeline.actors[i],
                         1, kMostActors));
  }
  return keys;
}

Keys model_keys(TrainerSpec& trainer) {
  return {
      choice("trainer.model", trainer.model, kModelNames),
      duration("trainer.step", trainer.step, 0, 3600),
      text("trainer.device", trainer.device),
      count("trainer.threads", trainer.threads, 1, kMostModelThreads),
      flag("trainer.deterministic", trainer.deterministic),
      count("trainer.seed", trainer.seed, 0),
      choice("trainer.optimizer", trainer.optimizer, kOptimizerNames),
      number("trainer.learning_rate", trainer.learning_rate, 1e-9, 1e3),
      count("trainer.warmup_steps", trainer.warmup_steps, 0, 0x1p40),
      count("trainer.decay_start", trainer.decay_start, 0, 0x1p40),
      count("trainer.decay_steps", trainer.decay_steps, 0, 0x1p40),
      number("trainer.clip_norm", trainer.clip_norm, 0, 1e9),
      count("trainer.embedding_dim", trainer.embedding_dim, 1, 4096),
      counts("trainer.bottom_mlp", trainer.bottom_mlp, 1, 16384),
      counts("trainer.top_mlp", trainer.top_mlp, 1, 16384),
      count("trainer.cross_layers", trainer.cross_layers, 1, 64),
      count("trainer.cross_rank", trainer.cross_rank, 1, 16384),
      count("trainer.max_table_rows", trainer.max_table_rows, 1, 0x1p31),
      choice("trainer.table_optimizer", trainer.table_optimizer, kTableOptimizerNames),
      choice("trainer.pooling", trainer.pooling, kPoolingNames),
      choice("trainer.precision", trainer.precision, kPrecisionNames),
      choice("trainer.tables.storage", trainer.tables.storage, kStorageNames),
      size("trainer.tables.memory", trainer.tables.memory_bytes, 1 << 20, 0x1p50),
      count("trainer.tables.admit_after", trainer.tables.admit_after, 1, 255),
      count("trainer.tables.evict_after", trainer.tables.evict_after, 0, 0x1p40),
      size("trainer.tables.device_memory", trainer.tables.device_memory_bytes, 1 << 20, 0x1p50),
      choice("trainer.tables.placement", trainer.tables.placement, kPlacements),
  };
}

Keys training_keys(TrainerSpec& trainer) {
  return {
      texts("trainer.evaluate", trainer.evaluate),
      number("trainer.evaluate_share", trainer.evaluate_share, 0, 0.99),
      count("trainer.evaluate_every", trainer.evaluate_every, 0, 1e15),
      choice("trainer.evaluate_auc", trainer.evaluate_auc, kAucs),
      count("trainer.early_stopping", trainer.early_stopping, 0, 1e9),
      choice("trainer.early_stopping_metric", trainer.early_stopping_metric, kMetrics),
      text("trainer.tensorboard", trainer.tensorboard),
      text("trainer.csv", trainer.csv),
      count("trainer.log_every", trainer.log_every, 1, 1e15),
      text("trainer.checkpoint", trainer.checkpoint),
      duration("trainer.checkpoint_every", trainer.checkpoint_every, 0, 365 * kDay),
      count("trainer.checkpoint_steps", trainer.checkpoint_steps, 0, 0x1p40),
      count("trainer.keep", trainer.keep, 1, 1e6),
      duration("trainer.rank_timeout", trainer.rank_timeout, 1, kDay),
  };
}

Keys cluster_keys(JobSpec& job) {
  ClusterSpec& cluster = job.cluster;
  RunSpec& run = job.run;
  return {
      text("cluster.listen", cluster.listen),
      text("cluster.head", cluster.head),
      count("cluster.min_workers", cluster.min_workers, 0, 1e6),
      count("cluster.max_workers", cluster.max_workers, 0, 1e6),
      flag("cluster.local", cluster.local),
      text("cluster.keys", cluster.keys),
      duration("cluster.lease", cluster.lease, 0.2, 3600),
      duration("cluster.heartbeat", cluster.heartbeat, 0.02, 60),
      duration("cluster.rejoin", cluster.rejoin, 0.5, kDay),
      choice("cluster.placement", cluster.placement, {"spread", "pack", "near"}),
      choice("cluster.compress", cluster.compress, {"auto", "none", "lz4", "zstd"}),
      text("cluster.metrics", cluster.metrics),
      text("cluster.scale", cluster.scale),
      text("run.dir", run.dir),
      text("run.dashboard", run.dashboard),
      size("run.spill", run.spill_bytes, 0, 0x1p60),
      duration("run.grace", run.grace, 0.1, kDay),
      duration("run.stall_after", run.stall_after, 0.1, kDay),
      duration("run.stall_fail", run.stall_fail, 0.1, 30 * kDay),
      number("prices.cpu_hour", job.prices.cpu_hour, 0, kMostPrice),
      number("prices.gigabyte", job.prices.gigabyte, 0, kMostPrice),
      number("prices.request", job.prices.request, 0, kMostPrice),
  };
}

/// Returns every key outside `[[transform]]`, bound to its member of `job`.
Keys keys_of(JobSpec& job) {
  Keys all;
  for (Keys keys :
       {data_keys(job), storage_keys(job.storage), pipeline_keys(job), allocation_keys(job),
        model_keys(job.trainer), training_keys(job.trainer), cluster_keys(job)}) {
    std::ranges::move(keys, std::back_inserter(all));
  }
  return all;
}

const JobKey* find_key(const Keys& keys, std::string_view name) {
  const auto found = std::ranges::find(keys, name, &JobKey::name);
  return found == keys.end() ? nullptr : &*found;
}

/// Returns every name that may be in a job file, tables before keys.
std::vector<std::string_view> known_names(const Keys& keys) {
  std::vector<std::string_view> names{kTransformList};
  for (const JobKey& key : keys) {
    const std::string_view name = key.name;
    for (std::size_t dot = 0; (dot = name.find('.', dot + 1)) != std::string_view::npos;) {
      const std::string_view table = name.substr(0, dot);
      if (std::ranges::find(names, table) == names.end()) names.push_back(table);
    }
  }
  for (const JobKey& key : keys) names.emplace_back(key.name);
  return names;
}

bool is_known(const Keys& keys, std::string_view name) {
  const auto names = known_names(keys);
  return std::ranges::find(names, name) != names.end();
}

/// Returns the nearest stage to `name` and all stages of the job, for messages.
std::string among_stages(const Keys& keys, std::string_view name) {
  std::vector<std::string_view> stages;
  std::string all;
  for (const JobKey& key : keys) {
    if (!key.name.starts_with(kAllocationKey)) continue;
    stages.push_back(std::string_view(key.name).substr(kAllocationKey.size()));
    all.append(all.empty() ? "" : ", ").append(stages.back());
  }
  return did_you_mean(name, stages) + " (stages: " + all + ")";
}

tl::unexpected<Error> unknown(const Keys& keys, const std::string& where, const std::string& key) {
  constexpr std::size_t kMostShown = 80;
  const std::string shown = key.size() <= kMostShown ? key : key.substr(0, kMostShown) + "…";
  if (key.starts_with(kAllocationKey)) {
    return fail(Code::kInvalid, where + ": unknown key " + shown + ": this job has no such stage" +
                                    among_stages(keys, key.substr(kAllocationKey.size())));
  }
  const auto names = known_names(keys);
  std::string advice = did_you_mean(key, names);
  if (advice.empty()) advice = "; the nearest known key is " + std::string(closest_of(key, names));
  return fail(Code::kInvalid, where + ": unknown key " + shown + advice);
}

Status check_table(const Keys& keys, const std::string& name, const std::string& where) {
  if (!is_known(keys, name)) return unknown(keys, where, name);
  if (name == kTransformList) {
    return fail(Code::kInvalid, where + ": transforms are a list; write [[transform]]");
  }
  if (const JobKey* key = find_key(keys, name)) {
    return fail(Code::kInvalid, where + ": " + name + " is a table, but must be " + key->wanted);
  }
  return {};
}

/// Whether a text in `value` holds a zero byte, at which the system would cut a path.
bool holds_zero(const ParamValue& value) {
  const auto has = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  const auto* text = std::get_if<std::string>(&value);
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  return (text != nullptr && has(*text)) || (list != nullptr && std::ranges::any_of(*list, has));
}

Status read_value(const Keys& keys, const std::string& name, const JobValue& given) {
  const JobKey* key = find_key(keys, name);
  if (key == nullptr && is_known(keys, name)) {
    return fail(Code::kInvalid, given.where + ": " + name + " is a table; write " +
                                    (name == kTransformList ? "[[transform]]" : '[' + name + ']'));
  }
  if (key == nullptr) return unknown(keys, given.where, name);
  if (holds_zero(given.value)) {
    return fail(Code::kInvalid, given.where + ": " + name + " holds a zero byte; remove it");
  }
  if (key->read(given.value)) return {};
  const auto* text = std::get_if<std::string>(&given.value);
  return fail(Code::kInvalid, given.where + ": " + name + " is " + show_value(given.value) +
                                  ", but must be " + key->wanted +
                                  (text != nullptr ? did_you_mean(*text, key->choices) : ""));
}

}  // namespace

Status read_keys(const JobDocument& document, JobSpec& job) {
  const Keys keys = keys_of(job);
  for (const auto& [name, where] : document.tables) {
    if (auto checked = check_table(keys, name, where); !checked) return checked;
  }
  for (const auto& [name, given] : document.values) {
    if (auto read = read_value(keys, name, given); !read) return read;
  }
  // If only one of the two was given, the other's default is moved to fit.
  RunSpec& run = job.run;
  if (!document.values.contains("run.stall_after")) {
    run.stall_after = std::min(run.stall_after, run.stall_fail);
  }
  if (!document.values.contains("run.stall_fail")) {
    run.stall_fail = std::max(run.stall_fail, run.stall_after);
  }
  return {};
}

std::optional<std::string> read_key(std::string_view key, const ParamValue& value, JobSpec& job) {
  const Keys keys = keys_of(job);
  const JobKey* found = find_key(keys, key);
  FOREBAY_CHECK(found != nullptr);
  return found->read(value) ? std::nullopt : std::optional(found->wanted);
}

std::vector<std::string> job_key_names() {
  JobSpec job;
  std::vector<std::string> names;
  for (const JobKey& key : keys_of(job)) names.push_back(key.name);
  return names;
}

}  // namespace forebay
