#pragma once

#include <cstddef>
#include <cstdint>

#include "trainer/spec.h"

namespace forebay {

/// The most threads of the host that prepare batches for a device; more gain nothing.
inline constexpr std::size_t kMostDeviceThreads = 13;

/// Upper bounds of a model's memory for a device other than the CPU; 0 for the CPU. Batches have
/// `batch_size` rows with at most `ids` sparse ids.

/// Rows of the tables on the device: as many as fit `trainer.tables.device_memory`, or as the
/// host's memory has.
std::uint64_t device_rows(const TrainerSpec& spec, const ModelShape& shape);

/// On the device: parameters, rows, staged batches, and a step's activations and gradients.
std::uint64_t device_bytes(const TrainerSpec& spec, const ModelShape& shape,
                           std::uint64_t batch_size, const MostIds& ids);

/// On the host: page-locked buffers from and to which batches and changed rows are copied, and the
/// index of the rows on the device.
std::uint64_t host_bytes_for_device(const TrainerSpec& spec, const ModelShape& shape,
                                    std::uint64_t batch_size, const MostIds& ids);

}  // namespace forebay
