#pragma once

#include <cstddef>
#include <cstdint>

#include "actors/input/store/storage_spec.h"
#include "actors/sizing.h"
#include "engine/job/job_spec.h"

namespace forebay {

/// The threads of a job that help the batch actor.
inline std::size_t batch_helpers(const JobSpec& job) {
  return batch_threads(job.pipeline.cpus) - 1;
}

/// Bytes that a job's run takes beside all buffers: for requests to a store, if the dataset is
/// `remote`, and for the threads that help to copy a batch.
inline std::uint64_t bytes_beside_buffers(const JobSpec& job, bool remote) {
  const std::uint64_t requests = remote ? job.storage.connections * kRequestBytes : 0;
  return requests + batch_helpers(job) * kThreadBytes;
}

}  // namespace forebay
