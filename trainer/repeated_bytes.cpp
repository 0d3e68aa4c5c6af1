#include "trainer/repeated_bytes.h"

#include <cstddef>

namespace forebay {

std::uint64_t repeated_bytes(const TrainerSpec& spec, const ModelShape& shape, const Schema& schema,
                             std::uint64_t batch_size) {
  if (!learns(spec.model) || runs_on_gpu(spec)) return 0;
  std::size_t features = 0;
  for (const FeatureGroup& group : schema.repeated) features += group.sparse.size();
  return batch_size * features * shape.row_width() * (sizeof(float) + sizeof(double));
}

}  // namespace forebay
