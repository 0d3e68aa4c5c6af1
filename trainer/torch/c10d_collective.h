#pragma once

#include <memory>

#include "core/base/result.h"
#include "trainer/collective.h"
#include "trainer/rank_store.h"

namespace forebay {

/// Ranks that are processes, by libtorch's c10d: NCCL for devices of kind cuda where libtorch has
/// it, else Gloo over TCP, on the network that reaches the store. Returns when every rank is there;
/// fails when one is not after `spec.timeout`.
///
/// Waiting ranks sleep. A broken connection ends what is under way at once, silence after
/// `spec.timeout`; which rank it was Gloo does not know.
Result<std::unique_ptr<Collective>> make_c10d_collective(const CollectiveSpec& spec);

/// The store of such ranks (TCPStore), from which RankStore::connect makes their Collective.
Result<std::unique_ptr<RankStore>> open_c10d_store(const CollectiveSpec& spec);

}  // namespace forebay
