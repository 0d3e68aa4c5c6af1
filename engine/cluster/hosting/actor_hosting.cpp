#include "engine/cluster/hosting/actor_hosting.h"

#include <utility>

#include "engine/actors/cluster/actor_node.h"
#include "engine/actors/cluster/network_objects.h"
#include "engine/cluster/head_location.h"

namespace forebay {
Result<std::unique_ptr<ActorHosting>> ActorHosting::load(Options options) {
  auto libraries = ActorLibraries::load(options.libraries);
  if (!libraries) return pass(libraries);
  return std::unique_ptr<ActorHosting>(
      new ActorHosting(std::move(options), std::move(*libraries)));  // NOLINT: private.
}

Status ActorHosting::open(NetworkEndpoint& net, std::function<DirectoryRef()> directory) {
  const std::string any = options_.has_keys ? "0.0.0.0:0" : "127.0.0.1:0";
  auto address = net.listen(options_.listen.empty() ? any : options_.listen);
  if (!address) return fail(address.error().code, "--listen: " + address.error().message);
  const std::string here = reachable(*address);
  host_ = std::make_unique<UserHost>(net.actors().host(), objects_of(options_.objects, here, net));
  publish(host_->objects(), net);
  const ActorNode::Options node{.name = options_.name,
                                .address = here,
                                .process = number_of_process(),
                                .cpus = options_.cpus,
                                .memory_bytes = options_.memory_bytes,
                                .directory = std::move(directory),
                                .say = options_.say};
  // It reports what the actors do and opens libraries, whatever an actor does to the shared
  // threads.
  const SpawnOptions own_thread{
      .name = "actor-node", .mailbox_bytes = kNetMailbox, .placement = Placement::kOwnThread};
  const auto actor =
      net.actors().spawn(own_thread, [node, &libraries = *libraries_, &host = *host_] {
        return std::make_unique<ActorNode>(node, libraries, host);
      });
  net.node().publish(std::string(kActorNodeName), ActorRef<LocateActor>(actor));
  return actor.tell(BeginActorNode{});
}

}  // namespace forebay
