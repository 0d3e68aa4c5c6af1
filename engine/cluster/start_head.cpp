#include "engine/cluster/start_head.h"

#include <memory>
#include <utility>

#include "engine/cluster/this_node.h"

namespace forebay {

Result<scheduler::HeadActor::Ref> start_head(NetworkEndpoint& net, Store& store,
                                             scheduler::HeadOptions options) {
  auto opened = scheduler::HeadActor::Journal::open(store);
  if (!opened) return pass(opened);
  if (const std::string& cut = opened->recovery().cut; !cut.empty()) {
    options.say("the store's tail was cut off: " + cut);
  }
  options.version = program_version();
  options.operators = operators_digest();
  auto journal = std::make_shared<scheduler::HeadActor::Journal>(std::move(*opened));
  const auto head = net.actors().spawn(
      {.name = "head", .mailbox_bytes = kNetMailbox, .placement = Placement::kOwnThread},
      [journal, options] { return std::make_unique<scheduler::HeadActor>(journal, options); });
  net.node().publish(std::string(scheduler::kHeadName), scheduler::HeadRef(head));
  net.node().publish(std::string(kStatusName), ActorRef<scheduler::QueryCluster>(head));
  static_cast<void>(head.tell(scheduler::BeginHead{}));
  return head;
}

}  // namespace forebay
