#pragma once

#include <string>

#include "core/base/result.h"
#include "trainer/model.h"
#include "trainer/spec.h"

namespace forebay {

/// Writes every row of a fresh model's tiered tables to their disk, with its first values, as
/// training on all of them would have: through the disk's own format and the model's way back from
/// a snapshot. `folder` is beside the tables' and is used meanwhile.
Status fill_tiered_tables(Model& model, const TrainerSpec& spec, const ModelShape& shape,
                          const std::string& folder);

}  // namespace forebay
