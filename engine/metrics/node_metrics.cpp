#include "engine/metrics/families.h"
#include "engine/metrics/node_figures.h"

namespace forebay {

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
  families.gauge("forebay_worker_joined", "1 while a head counts this worker in.",
                 figures.joined ? 1 : 0);
  families.gauge("forebay_worker_splits_in_work", "Splits leased to it and not made yet.",
                 number(figures.making));
  families.gauge("forebay_worker_splits_ready", "Splits made and not handed over yet.",
                 number(figures.ready));
  families.counter("forebay_worker_splits_total", "Splits handed over.", number(figures.done));
  families.counter("forebay_worker_plain_bytes_total", "Bytes of its splits' columns.",
                   number(figures.plain_bytes));
  families.counter("forebay_worker_packed_bytes_total", "Bytes of those as they are sent.",
                   number(figures.packed_bytes));
  if (!figures.stages.empty()) add_stages(figures.stages, families);
  return families.take();
}

}  // namespace forebay
