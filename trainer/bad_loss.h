#pragma once

#include <cstddef>
#include <span>

#include "core/base/result.h"
#include "core/data/batch.h"

namespace forebay {

/// What to say of a batch whose loss is not finite: which batch, and the first row at fault, from
/// its values or, where those are finite, from the logits (none: it is not known).
/// `first_row`: which row of the whole batch the first of these is.
Error bad_loss(const Batch& batch, double loss, std::span<const float> logits,
               std::size_t first_row = 0);

}  // namespace forebay
