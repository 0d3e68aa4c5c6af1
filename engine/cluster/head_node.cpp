#include "engine/cluster/head_node.h"

#include <utility>

#include "core/base/background_worker.h"
#include "core/runtime/ask.h"
#include "core/runtime/synchronized.h"
#include "engine/cluster/start_head.h"

namespace forebay {

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
  end->address_ = *address;
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

}  // namespace forebay
