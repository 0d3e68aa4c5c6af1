#pragma once

#include <cstdint>

#include "trainer/spec.h"

namespace forebay {

/// What a model takes for a device that is not the cpu, at most; 0 where it is the cpu. Batches are
/// of `batch_size` rows with `ids_per_batch` sparse ids.

/// Rows of the tables on the device: `trainer.tables.device_memory` holds so many, or the host's
/// memory does.
std::uint64_t device_rows(const TrainerSpec& spec, const ModelShape& shape);

/// On the device: parameters, rows, staged batches, and a step's activations and gradients.
std::uint64_t device_bytes(const TrainerSpec& spec, const ModelShape& shape,
                           std::uint64_t batch_size, std::uint64_t ids_per_batch);

/// On the host, page-locked: what batches and changed rows are copied from and to; and what finds
/// the rows on the device.
std::uint64_t host_bytes_for_device(const TrainerSpec& spec, const ModelShape& shape,
                                    std::uint64_t batch_size, std::uint64_t ids_per_batch);

}  // namespace forebay
