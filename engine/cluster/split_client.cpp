#include "engine/cluster/split_client.h"

#include <memory>
#include <string>
#include <utility>

namespace forebay {

scheduler::SplitClient::Ref host_split_client(NetworkEndpoint& net,
                                              scheduler::SplitClientOptions options,
                                              scheduler::HeadFinder& heads,
                                              scheduler::ArrivalSink& sink) {
  auto client = net.actors().spawn(
      {.name = "feed", .mailbox_bytes = kNetMailbox, .placement = Placement::kOwnThread},
      [options = std::move(options), &heads, &sink] {
        return std::make_unique<scheduler::SplitClient>(options, heads, sink);
      });
  net.node().publish(std::string(scheduler::kSplitClientName), scheduler::SplitClientRef(client));
  return client;
}

}  // namespace forebay
