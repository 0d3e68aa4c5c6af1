#include "trainer/device_memory.h"

#include <algorithm>

#include "trainer/network_shape.h"

namespace forebay {
namespace {

// The parts of a StagedBatch beside dense values, labels, the offsets of lists and the rows' bags:
// a place per id, a slot per row twice, and padding for alignment.
constexpr std::uint64_t kStagedId = 4;
constexpr std::uint64_t kStagedRow = 8;
constexpr std::uint64_t kAligning = 512;
// Buffers are allocated an eighth larger than needed, and libtorch rounds page-locked ones up to a
// power of two.
constexpr std::uint64_t kRounding = 2;
// The SlotCache: by row of the host, by slot of the device, and whether the host moved the row.
constexpr std::uint64_t kHostRow = 8;
constexpr std::uint64_t kDeviceRow = 24;

std::uint64_t host_rows(const TrainerSpec& spec, const ModelShape& shape) {
  const std::uint64_t all = shape.all_table_rows();
  if (spec.tables.storage != TrainerSpec::Storage::kTiered) return all;
  return std::min(all, spec.tables.memory_bytes / table_row_bytes(spec, shape));
}

/// Bytes of a batch as it is sent, and of the rows that it names as they are copied back.
std::uint64_t staged(const TrainerSpec& spec, const ModelShape& shape, std::uint64_t batch_size,
                     const MostIds& ids) {
  const std::uint64_t touched = std::min(host_rows(spec, shape), touched_rows(shape, ids));
  const std::uint64_t rows = touched * table_row_bytes(spec, shape);
  const std::uint64_t numbers =
      shape.dense_features + 1 + 2 * shape.table_rows.size() + (shape.weighted ? 1 : 0);
  const std::uint64_t sent = sizeof(float) * batch_size * numbers + kStagedId * ids.all +
                             kStagedRow * touched + kAligning + rows;
  return sent + sent / 8 + rows + rows / 8;
}

}  // namespace

std::uint64_t device_rows(const TrainerSpec& spec, const ModelShape& shape) {
  const std::uint64_t all = host_rows(spec, shape);
  if (spec.tables.device_memory_bytes == 0) return all;
  return std::min(all, spec.tables.device_memory_bytes / table_row_bytes(spec, shape));
}

std::uint64_t device_bytes(const TrainerSpec& spec, const ModelShape& shape,
                           std::uint64_t batch_size, const MostIds& ids) {
  if (spec.device == "cpu" || !learns(spec.model)) return 0;
  const std::uint64_t parameters = (dense_copies(spec.optimizer) + 1) * shape.dense_parameters();
  const std::uint64_t activations = row_activations(shape);
  // Values of the rows that a step touches: the rows, the rows by id, their gradients, their
  // update.
  const std::uint64_t rows = 4 * ids.all * shape.row_width();
  // In bfloat16 the rounded parameters and their gradients come on top, and activations and
  // gradients once more, in half the bytes.
  const std::uint64_t rounded = spec.precision == TrainerSpec::Precision::kBf16
                                    ? rounded_parameters(shape) + batch_size * activations / 2
                                    : 0;
  const std::uint64_t values = parameters + batch_size * activations + rounded + rows;
  return sizeof(float) * values + device_rows(spec, shape) * table_row_bytes(spec, shape) +
         (kMostStagedBatches + 1) * staged(spec, shape, batch_size, ids);
}

std::uint64_t host_bytes_for_device(const TrainerSpec& spec, const ModelShape& shape,
                                    std::uint64_t batch_size, const MostIds& ids) {
  if (spec.device == "cpu" || !learns(spec.model)) return 0;
  return kRounding * (kMostStagedBatches + 1) * staged(spec, shape, batch_size, ids) +
         kHostRow * host_rows(spec, shape) + kDeviceRow * device_rows(spec, shape);
}

}  // namespace forebay
