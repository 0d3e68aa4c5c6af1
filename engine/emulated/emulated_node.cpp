#include "engine/emulated/emulated_node.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/emulated/split_frame.h"
#include "tuner/world/world_layout.h"

namespace forebay {
namespace {

/// Splits that are leased to a node before an actor can take them: enough to bridge the way of a
/// lease from the head.
constexpr std::uint32_t kLeasedAhead = 8;

tuner::PipelineModel model_of_node(const tuner::PipelineModel& model, std::size_t index) {
  tuner::PipelineModel own = model;
  own.cpus = model.nodes[index].cpus;
  own.memory_bytes = model.nodes[index].memory_bytes;
  return own;
}

}  // namespace

EmulatedNode::EmulatedNode(const EmulatedWorld& world, std::size_t index)
    : world_(world),
      index_(index),
      node_(world.model.nodes[index]),
      model_(model_of_node(world.model, index)),
      outlet_(std::make_shared<NodeOutlet>(
          NodeOutlet::Options{.node = index,
                              .trainers = node_.trainer,
                              .link_splits = world.model.queue_splits,
                              .machine = world.machine,
                              .trainer = world.trainer,
                              .on_made = [this](const MadeSplit& split) { made(split); },
                              .on_move = [this] { observer_.look(); }})),
      observer_(model_, world.machine, pipeline_, index),
      pipeline_({.model = model_,
                 .machine = world.machine,
                 .clock = world.clock,
                 .on_move = [this] { observer_.look(); },
                 .node = index,
                 .outlet = outlet_.get()}) {}

Result<std::unique_ptr<EmulatedNode>> EmulatedNode::make(const EmulatedWorld& world,
                                                         std::size_t index,
                                                         const tuner::Allocation& first) {
  auto node = std::unique_ptr<EmulatedNode>(new EmulatedNode(world, index));  // NOLINT
  node->apply(first);
  if (auto status = node->start_worker(); !status) return pass(status);
  return node;
}

Status EmulatedNode::start_worker() {
  if (!is_trainers()) {
    auto net = NetworkEndpoint::make({}, world_.clock);
    if (!net) return pass(net);
    net_ = std::move(*net);
    if (auto status = net_->connect(world_.head); !status) return status;
  }
  scheduler::WorkerOptions options = worker_here(node_.name);
  options.cpus = node_.cpus;
  options.memory_bytes = node_.memory_bytes;
  scheduler::SplitExecutor& executor = *this;
  scheduler::HeadFinder& heads = *this;
  scheduler::SplitClientFinder& split_clients = *this;
  ActorSystem& actors = is_trainers() ? world_.trainer_net.actors() : net_->actors();
  worker_ = actors.spawn({.name = "worker", .mailbox_bytes = kNetMailbox},
                         [options, &executor, &heads, &split_clients] {
                           return std::make_unique<scheduler::WorkerActor>(options, executor, heads,
                                                                           split_clients);
                         });
  return worker_.tell(scheduler::BeginWorker{});
}

EmulatedNode::~EmulatedNode() { stop(); }

void EmulatedNode::stop() {
  world_.machine.lose(index_);
  outlet_->close();
  pipeline_.cancel();
  pipeline_.wait_until_gone();
  world_.trainer.forget(index_);
}

void EmulatedNode::apply(const tuner::Allocation& allocation) {
  pipeline_.apply(allocation);
  observer_.look();
}

std::uint32_t EmulatedNode::slots() const {
  if (!fed_) return 0;
  const tuner::Census census = pipeline_.census();
  std::uint32_t slots = model_.queue_splits * static_cast<std::uint32_t>(census.asked.size() - 1);
  for (const std::uint32_t actors : census.asked) slots += actors;
  if (world_.machine.link_rate(index_) > 0) slots += model_.queue_splits;
  // With order no split may wait here that an actor elsewhere could begin.
  if (model_.stages.back().ordered) return slots;
  return slots + census.asked.front() + kLeasedAhead;
}

void EmulatedNode::open(const scheduler::JobShare& job, std::uint64_t opening) {
  opening_ = opening;
  static_cast<void>(worker_.tell(scheduler::WorkOpened{
      .opening = opening, .fingerprint = job.fingerprint, .error = std::nullopt}));
}

void EmulatedNode::begin(std::uint64_t split) {
  static_cast<void>(pipeline_.begin({.key = split, .ready = world_.issued_at(split)}));
}

/// A split has its place in the prefetch queue: the trainer's own goes there, the others over the
/// network.
void EmulatedNode::made(const MadeSplit& made) {
  const bool own = is_trainers();
  if (own) world_.on_own_split(made);
  static_cast<void>(worker_.tell(scheduler::WorkDone{.opening = opening_,
                                                     .split = made.key,
                                                     .frames = own ? Frames{} : frames_of(made),
                                                     .handed_on = own}));
}

scheduler::HeadRef EmulatedNode::head() {
  if (is_trainers()) return world_.head_actor;
  return net_->actor<scheduler::HeadRef>(world_.head, scheduler::kHeadName);
}

scheduler::SplitClientRef EmulatedNode::split_client(const std::string&) {
  if (is_trainers()) return world_.split_client;
  return net_->actor<scheduler::SplitClientRef>(world_.head, scheduler::kSplitClientName);
}

}  // namespace forebay
