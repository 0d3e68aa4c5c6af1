#include "engine/ranks/rank_options.h"

namespace forebay {

Result<std::unique_ptr<NetworkEndpoint>> open_network(const RankOptions& options,
                                                      MemoryBudget& received, const Clock& clock) {
  auto net = NetworkEndpoint::make({.keys = options.keys,
                                    .heartbeat = options.heartbeat,
                                    .lost_after = options.lost_after,
                                    .received = &received,
                                    .say = options.say},
                                   clock);
  if (!net) return fail(net.error().code, "cluster.keys: " + net.error().message);
  return net;
}

}  // namespace forebay
