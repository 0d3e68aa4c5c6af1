#pragma once

#include <cstdint>

#include "core/data/schema.h"
#include "trainer/spec.h"

namespace forebay {

/// The most bytes that one trainer's bags of repeated columns take (RepeatedBags), beside
/// model_bytes(): for each list of a batch that no other row has, its vector, and the sums of its
/// gradients as doubles.
std::uint64_t repeated_bytes(const TrainerSpec& spec, const ModelShape& shape, const Schema& schema,
                             std::uint64_t batch_size);

}  // namespace forebay
