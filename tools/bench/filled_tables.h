#pragma once

#include <string>

#include "core/base/result.h"
#include "trainer/model.h"
#include "trainer/spec.h"

namespace forebay {

/// Writes every row of a fresh model's tiered tables to their disk, with its initial values, as if
/// training had touched all of them. Uses the disk's own format and the model's restore. `folder`
/// is used temporarily and is on the tables' disk.
Status fill_tiered_tables(Model& model, const TrainerSpec& spec, const ModelShape& shape,
                          const std::string& folder);

}  // namespace forebay
