#include "engine/job/job_sections.h"

#include <algorithm>
#include <string>

namespace forebay {
namespace {

void read_dataset(JobKeys& keys, DatasetSpec& dataset) {
  std::string delimiter(1, dataset.csv.delimiter);
  keys.text("dataset.format", dataset.format);
  keys.texts("dataset.paths", dataset.paths);
  keys.count("dataset.bad_rows", dataset.bad_rows);
  keys.size("dataset.max_row_bytes", dataset.max_row_bytes);
  keys.text("dataset.csv.delimiter", delimiter);
  keys.flag("dataset.csv.header", dataset.csv.header);
  keys.text("dataset.csv.list_delimiter", dataset.csv.list_delimiter);
  dataset.csv.delimiter = delimiter.front();
}

void read_order(JobKeys& keys, OrderSpec& order) {
  using Shuffle = OrderSpec::Shuffle;
  keys.count("order.seed", order.seed);
  if (const ParamValue* shuffle = keys.find("order.shuffle")) {
    const bool* flag = std::get_if<bool>(shuffle);
    order.shuffle = flag == nullptr ? Shuffle::kFile : *flag ? Shuffle::kAll : Shuffle::kNone;
  }
  keys.choice("order.mode", order.mode,
              {{"exact", OrderSpec::Mode::kExact}, {"arrival", OrderSpec::Mode::kArrival}});
  keys.count("order.epochs", order.epochs);
  keys.count("order.batch_size", order.batch_size);
  keys.flag("order.drop_last", order.drop_last);
}

void read_pipeline(JobKeys& keys, JobSpec& job) {
  PipelineSpec& pipeline = job.pipeline;
  keys.count("pipeline.cpus", pipeline.cpus);
  keys.size("pipeline.memory", pipeline.memory_bytes);
  keys.size("pipeline.prefetch", pipeline.prefetch_bytes);
  keys.count("pipeline.max_actors", job.max_actors);
  keys.count("pipeline.allocation.load", pipeline.allocation.load);
  keys.count("pipeline.allocation.decode", pipeline.allocation.decode);
  keys.count("pipeline.allocation.shuffle", pipeline.allocation.shuffle);
  keys.count("pipeline.allocation.transform", pipeline.allocation.transform);
}

void read_tables(JobKeys& keys, TrainerSpec& trainer) {
  using Optimizer = TrainerSpec::TableOptimizer;
  keys.choice("trainer.table_optimizer", trainer.table_optimizer,
              {{"sgd", Optimizer::kSgd},
               {"adagrad", Optimizer::kAdagrad},
               {"rowwise_adagrad", Optimizer::kRowwiseAdagrad}});
  keys.choice("trainer.pooling", trainer.pooling,
              {{"sum", TrainerSpec::Pooling::kSum}, {"mean", TrainerSpec::Pooling::kMean}});
  keys.choice("trainer.tables.storage", trainer.tables.storage,
              {{"memory", TrainerSpec::Storage::kMemory},
               {"hashed", TrainerSpec::Storage::kHashed},
               {"tiered", TrainerSpec::Storage::kTiered}});
  keys.size("trainer.tables.memory", trainer.tables.memory_bytes);
  keys.count("trainer.tables.admit_after", trainer.tables.admit_after);
  keys.count("trainer.tables.evict_after", trainer.tables.evict_after);
  keys.size("trainer.tables.device_memory", trainer.tables.device_memory_bytes);
  keys.choice("trainer.tables.placement", trainer.tables.placement,
              {{"auto", TrainerSpec::Placement::kAuto},
               {"table", TrainerSpec::Placement::kTable},
               {"row", TrainerSpec::Placement::kRow},
               {"replicated", TrainerSpec::Placement::kReplicated}});
}

void read_figures(JobKeys& keys, TrainerSpec& trainer) {
  using Auc = TrainerSpec::Auc;
  using Metric = TrainerSpec::Metric;
  keys.texts("trainer.evaluate", trainer.evaluate);
  keys.number("trainer.evaluate_share", trainer.evaluate_share);
  keys.count("trainer.evaluate_every", trainer.evaluate_every);
  keys.choice("trainer.evaluate_auc", trainer.evaluate_auc,
              {{"auto", Auc::kAuto}, {"exact", Auc::kExact}, {"streaming", Auc::kStreaming}});
  keys.count("trainer.early_stopping", trainer.early_stopping);
  keys.choice("trainer.early_stopping_metric", trainer.early_stopping_metric,
              {{"log_loss", Metric::kLogLoss}, {"auc", Metric::kAuc}});
  keys.text("trainer.tensorboard", trainer.tensorboard);
  keys.text("trainer.csv", trainer.csv);
  keys.count("trainer.log_every", trainer.log_every);
}

void read_trainer(JobKeys& keys, TrainerSpec& trainer) {
  using Kind = TrainerSpec::ModelKind;
  keys.choice("trainer.model", trainer.model,
              {{"dlrm", Kind::kDlrm},
               {"dcn_v2", Kind::kDcnV2},
               {"wide_deep", Kind::kWideDeep},
               {"deepfm", Kind::kDeepFm},
               {"emulated", Kind::kEmulated},
               {"none", Kind::kNone}});
  keys.duration("trainer.step", trainer.step);
  keys.text("trainer.device", trainer.device);
  keys.count("trainer.threads", trainer.threads);
  keys.flag("trainer.deterministic", trainer.deterministic);
  keys.count("trainer.seed", trainer.seed);
  keys.choice("trainer.optimizer", trainer.optimizer,
              {{"sgd", TrainerSpec::Optimizer::kSgd},
               {"adagrad", TrainerSpec::Optimizer::kAdagrad},
               {"adam", TrainerSpec::Optimizer::kAdam}});
  keys.number("trainer.learning_rate", trainer.learning_rate);
  keys.count("trainer.warmup_steps", trainer.warmup_steps);
  keys.count("trainer.decay_start", trainer.decay_start);
  keys.count("trainer.decay_steps", trainer.decay_steps);
  keys.number("trainer.clip_norm", trainer.clip_norm);
  keys.count("trainer.embedding_dim", trainer.embedding_dim);
  keys.counts("trainer.bottom_mlp", trainer.bottom_mlp);
  keys.counts("trainer.top_mlp", trainer.top_mlp);
  keys.count("trainer.cross_layers", trainer.cross_layers);
  keys.count("trainer.cross_rank", trainer.cross_rank);
  keys.count("trainer.max_table_rows", trainer.max_table_rows);
  read_tables(keys, trainer);
  read_figures(keys, trainer);
  keys.text("trainer.checkpoint", trainer.checkpoint);
  keys.duration("trainer.checkpoint_every", trainer.checkpoint_every);
  keys.count("trainer.checkpoint_steps", trainer.checkpoint_steps);
  keys.count("trainer.keep", trainer.keep);
  keys.duration("trainer.rank_timeout", trainer.rank_timeout);
}

void read_cluster(JobKeys& keys, ClusterSpec& cluster) {
  keys.text("cluster.listen", cluster.listen);
  keys.text("cluster.head", cluster.head);
  keys.count("cluster.min_workers", cluster.min_workers);
  keys.count("cluster.max_workers", cluster.max_workers);
  keys.flag("cluster.local", cluster.local);
  keys.text("cluster.keys", cluster.keys);
  keys.duration("cluster.lease", cluster.lease);
  keys.duration("cluster.heartbeat", cluster.heartbeat);
  keys.duration("cluster.rejoin", cluster.rejoin);
  keys.text("cluster.placement", cluster.placement);
  keys.text("cluster.compress", cluster.compress);
  keys.text("cluster.metrics", cluster.metrics);
  keys.text("cluster.scale", cluster.scale);
}

void read_rest(JobKeys& keys, JobSpec& job) {
  keys.text("tuner.mode", job.tuner.mode);
  keys.text("tuner.policy", job.tuner.policy);
  keys.text("tuner.reward", job.tuner.reward);
  keys.duration("tuner.period", job.tuner.period);
  keys.text("run.dir", job.run.dir);
  keys.size("run.spill", job.run.spill_bytes);
  keys.duration("run.grace", job.run.grace);
  keys.duration("run.stall_after", job.run.stall_after);
  keys.duration("run.stall_fail", job.run.stall_fail);
  // If only one of the two was given, the other's default is moved to fit.
  if (keys.find("run.stall_after") == nullptr) {
    job.run.stall_after = std::min(job.run.stall_after, job.run.stall_fail);
  }
  if (keys.find("run.stall_fail") == nullptr) {
    job.run.stall_fail = std::max(job.run.stall_fail, job.run.stall_after);
  }
}

}  // namespace

void read_sections(JobKeys& keys, JobSpec& job) {
  read_dataset(keys, job.dataset);
  keys.text("columns.label", job.columns.label);
  keys.texts("columns.dense", job.columns.dense);
  keys.texts("columns.sparse", job.columns.sparse);
  read_order(keys, job.order);
  read_pipeline(keys, job);
  read_trainer(keys, job.trainer);
  read_cluster(keys, job.cluster);
  read_rest(keys, job);
}

}  // namespace forebay
