#include "engine/job/job_spec.h"

#include "engine/job/quantity.h"
#include "trainer/device_memory.h"

namespace forebay {

std::string describe_device(const JobSpec& job, const Schema& schema, const MostIds& ids) {
  auto shape = shape_of(job.trainer, schema);
  if (!shape) return "";
  const std::uint64_t batch = job.order.batch_size;
  const std::uint64_t on_device = device_bytes(job.trainer, *shape, batch, ids);
  if (on_device == 0) return "";
  return "the model takes up to " + format_size(on_device) + " on " + job.trainer.device +
         ", with " + std::to_string(device_rows(job.trainer, *shape)) +
         " rows of its tables, and " +
         format_size(host_bytes_for_device(job.trainer, *shape, batch, ids)) +
         " of the host for copies to and from there";
}

}  // namespace forebay
