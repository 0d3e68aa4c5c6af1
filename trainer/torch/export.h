#pragma once

#include "core/base/result.h"
#include "trainer/model_description.h"
#include "trainer/state/snapshot.h"

namespace forebay {

/// Writes a model as TorchScript, for torch.jit.load and its C++ kin: a module whose
///
///   forward(dense: float32 [B, D], ids: int64 [N], lengths: int32 [F, B]) -> float32 [B]
///
/// gives a row's logit. The ids are all rows' ids of the first feature, then of the second, …, as
/// in TorchRec's KeyedJaggedTensor; lengths says how many belong to which row. Any id is valid: it
/// maps to its row as in training, where ids without a row of their own share one. The module's
/// attribute `forebay` is `to_json(model)`: the names of the columns in their order, the sizes, the
/// kind.
///
/// Streams: memory holds the output once, and for hashed tables 20 bytes per row more. Returns an
/// error for a state that lacks a tensor, and removes an incomplete file.
Result<ExportedModel> export_model(const ModelDescription& model, StateSource& state,
                                   const ExportTarget& target);

}  // namespace forebay
