#include "engine/cluster/head_node.h"

#include <cstdint>
#include <utility>

#include "core/runtime/ask.h"
#include "core/runtime/synchronized.h"
#include "core/runtime/ticker.h"
#include "engine/actors/cluster/directory/actor_directory.h"
#include "engine/network/awaited_answer.h"

namespace forebay {
namespace {

void start_directory(NetworkEndpoint& net, Store& store,
                     const std::function<void(const std::string&)>& say) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const ActorDirectory::Options options{
      .begin = static_cast<std::uint64_t>(
          std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()),
      .say = say};
  const auto directory = net.actors().spawn(
      {.name = "directory", .mailbox_bytes = kNetMailbox, .placement = Placement::kOwnThread},
      [options, &store] { return std::make_unique<ActorDirectory>(options, store); });
  static_cast<void>(directory.tell(BeginDirectory{}));
  net.node().publish(std::string(kDirectoryName), DirectoryRef(directory));
}

}  // namespace

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
  start_directory(net, store, options.say);
  return head;
}

Result<std::unique_ptr<HeadNode>> HeadNode::open(const Options& options) {
  auto end = std::unique_ptr<HeadNode>(new HeadNode());  // NOLINT: the constructor is private.
  auto net = NetworkEndpoint::make(
      {.keys = options.keys, .heartbeat = options.heartbeat, .say = options.say}, end->clock_);
  if (!net) return fail(net.error().code, "--keys: " + net.error().message);
  end->net_ = std::move(*net);
  auto store = RocksStore::open(options.store);
  if (!store) return fail(store.error().code, "--store: " + store.error().message);
  end->store_ = std::move(*store);
  scheduler::HeadOptions head;
  head.lease = options.lease;
  head.heartbeat = options.heartbeat;
  head.say = options.say;
  auto started = start_head(*end->net_, *end->store_, head);
  if (!started) return pass(started);
  end->head_ = *started;
  auto address = end->net_->listen(options.listen);
  if (!address) return fail(address.error().code, "--listen: " + address.error().message);
  end->address_ = reachable(*address);
  return end;
}

HeadNode::~HeadNode() {
  net_.reset();
  store_.reset();
}

Result<scheduler::ClusterStatus> HeadNode::status() const {
  return ask(head_, scheduler::QueryCluster{}, std::chrono::seconds(1)).wait();
}

void HeadNode::run(const std::function<bool()>& stopped) const {
  Latch end;
  const Ticker look(std::chrono::milliseconds(20), [&] {
    if (stopped()) end.open();
  });
  end.wait();
}

Result<std::unique_ptr<HeadLook>> HeadLook::open(const std::string& address,
                                                 const std::string& keys) {
  auto look = std::unique_ptr<HeadLook>(new HeadLook(address));  // NOLINT: private.
  auto net = NetworkEndpoint::make({.keys = keys, .say = {}}, look->clock_);
  if (!net) return fail(net.error().code, "--keys: " + net.error().message);
  look->net_ = std::move(*net);
  if (auto status = look->net_->connect(address); !status) {
    return fail(status.error().code, "--join: " + status.error().message);
  }
  return look;
}

Result<scheduler::ClusterStatus> HeadLook::look(std::chrono::nanoseconds patience) {
  using StatusRef = ActorRef<scheduler::QueryCluster>;
  const AwaitedActor head{.address = without_scheme(address_),
                          .name = kStatusName,
                          .patience = patience,
                          .each = patience};
  auto status = await_answer<StatusRef>(*net_, head, scheduler::QueryCluster{});
  if (status) return status;
  return fail(status.error().code, "no head answers at " + address_ +
                                       "; is the job running, and is it the right address?" +
                                       status.error().message);
}

Result<ActorsStatus> HeadLook::actors(std::chrono::nanoseconds patience) {
  const auto directory = net_->actor<DirectoryRef>(without_scheme(address_), kDirectoryName);
  return ask(directory, QueryActors{}, patience).wait();
}

}  // namespace forebay
