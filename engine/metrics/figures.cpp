#include "engine/metrics/figures.h"

#include "engine/metrics/families.h"

namespace forebay {
namespace {

void add_trainer(const RunFigures& run, Families& to) {
  add_build(run.command, to);
  to.add("forebay_rows_total", "Rows given to the trainer.", run.rows);
  to.add("forebay_batches_total", "Batches given to the trainer.", run.batches);
  to.add("forebay_trainer_steps_total", "Batches the trainer is done with.", run.steps);
  to.add("forebay_trainer_wait_seconds_total", "Time the trainer waited for a batch.", run.waited);
  to.add("forebay_trainer_busy_seconds_total", "Time the trainer had a batch in hand.", run.worked);
  add_memory(run.memory_bytes, to);
  add_memory_limit(run.memory_limit, to);
  to.add("forebay_tuner_decisions_total", "Decisions the tuner took.", run.decisions);
  to.add("forebay_tuner_cpu_seconds_total", "CPU time of the tuner.", run.tuner_cpu_seconds);
}

void add_pipeline(const PipelineStats& stats, Families& to) {
  to.add("forebay_prefetch_batches", "Batches ready for the trainer.", stats.prefetch_batches);
  to.add("forebay_prefetch_bytes", "Bytes of those.", stats.prefetch_bytes);
  to.add("forebay_prefetch_capacity_bytes", "Bytes that may be ready.", stats.prefetch_budget);
  to.add("forebay_prefetch_full_total", "How often a batch found no room there.",
         stats.prefetch_full);
  to.add("forebay_prefetch_empty_total", "How often the trainer found no batch there.",
         stats.prefetch_empty);
  to.add("forebay_window_bytes", "Bytes of splits on their way.", stats.window_bytes);
  to.add("forebay_window_capacity_bytes", "Bytes that may be on their way.", stats.window_capacity);
  to.add("forebay_splits_issued_total", "Splits issued to the stages or to workers.",
         stats.splits_issued);
}

}  // namespace

std::vector<MetricFamily> metrics_of(const RunFigures& figures) {
  Families families;
  add_trainer(figures, families);
  add_stages(figures.pipeline.stages, families);
  add_pipeline(figures.pipeline, families);
  if (figures.cluster) add_cluster(*figures.cluster, families);
  return families.take();
}

std::vector<MetricFamily> metrics_of(const HeadFigures& figures) {
  Families families;
  add_build("head", families);
  add_memory(figures.memory_bytes, families);
  if (figures.cluster) add_cluster(*figures.cluster, families);
  return families.take();
}

std::vector<MetricFamily> metrics_of(const WorkerFigures& figures) {
  Families families;
  add_build("worker", families);
  add_memory(figures.memory_bytes, families);
  add_memory_limit(figures.memory_limit, families);
  families.add("forebay_worker_joined", "1 while a head counts this worker in.",
               figures.joined ? 1 : 0);
  families.add("forebay_worker_splits_in_work", "Splits leased to it and not made yet.",
               figures.making);
  families.add("forebay_worker_splits_ready", "Splits made and not handed over yet.",
               figures.ready);
  families.add("forebay_worker_splits_total", "Splits handed over.", figures.done);
  families.add("forebay_worker_plain_bytes_total", "Bytes of its splits' columns.",
               figures.plain_bytes);
  families.add("forebay_worker_packed_bytes_total", "Bytes of those as they are sent.",
               figures.packed_bytes);
  if (!figures.stages.empty()) add_stages(figures.stages, families);
  return families.take();
}

}  // namespace forebay
