#pragma once

#include <memory>

#include "core/base/result.h"
#include "trainer/collective.h"

namespace forebay {

/// Connects ranks that are processes, by libtorch's c10d: NCCL for devices of kind cuda if libtorch
/// has it, else Gloo over TCP, on the network that reaches the store. Returns when every rank is
/// connected; fails if one is missing after `spec.timeout`.
///
/// Waiting ranks sleep. A broken connection ends the operations in flight at once, silence ends
/// them after `spec.timeout`; Gloo does not report which rank caused it.
Result<std::unique_ptr<Collective>> make_c10d_collective(const CollectiveSpec& spec);

/// Opens the store of such ranks (TCPStore), from which RankStore::connect makes their Collective.
Result<std::unique_ptr<RankStore>> open_c10d_store(const CollectiveSpec& spec);

}  // namespace forebay
