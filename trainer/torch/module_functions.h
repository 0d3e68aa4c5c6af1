#pragma once

#include <memory>

#include "core/base/result.h"
#include "trainer/collective.h"
#include "trainer/model.h"
#include "trainer/model_description.h"
#include "trainer/spec.h"
#include "trainer/state/snapshot.h"

namespace forebay {

/// Makes a model on the CPU: embedding bags, interactions and optimizers are this project's own
/// loops, the layers libtorch's matrix products. The same batches give the same bits for any
/// `spec.threads`. With `ranks`, which outlive it, this rank's part of the common model.
Result<std::unique_ptr<Model>> make_cpu_model(const TrainerSpec& spec, const ModelShape& shape,
                                              Collective* ranks = nullptr);

/// Makes the part of the model that one of several ranks has; `ranks` outlives it.
Result<std::unique_ptr<Model>> make_ranked_model(const TrainerSpec& spec, const ModelShape& shape,
                                                 Collective& ranks);

/// Makes the same model from libtorch's operators and autograd alone, on any device that libtorch
/// supports; it starts with the same weights. Tables use any storage, on the host; rows that
/// batches need, and those in frequent use, are on the device. Announced batches are copied there
/// while training goes on.
Result<std::unique_ptr<Model>> make_autograd_model(const TrainerSpec& spec,
                                                   const ModelShape& shape);

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

/// Opens the store of ranks that are processes (TCPStore), from which RankStore::connect makes
/// their Collective by libtorch's c10d: NCCL for devices of kind cuda if libtorch has it, else Gloo
/// over TCP, on the network that reaches the store. Connecting returns when every rank is
/// connected; it fails if one is missing after `spec.timeout`.
///
/// Waiting ranks sleep. A broken connection ends the operations in flight at once, silence ends
/// them after `spec.timeout`; Gloo does not report which rank caused it.
Result<std::unique_ptr<RankStore>> open_c10d_store(const CollectiveSpec& spec);

}  // namespace forebay
