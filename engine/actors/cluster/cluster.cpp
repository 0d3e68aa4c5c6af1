#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <forebay/cluster.h>

#include "core/base/clock.h"
#include "core/runtime/ask.h"
#include "engine/actors/cluster/name_resolver.h"
#include "engine/actors/cluster/network_objects.h"
#include "engine/actors/cluster/task_names.h"
#include "engine/actors/local_target.h"
#include "engine/network/awaited_answer.h"
#include "engine/network/network_endpoint.h"

namespace forebay::actors {
namespace {

constexpr std::chrono::seconds kHeadPatience(2);
constexpr double kMostCpus = 1e6;
/// For the answer to the placement of a group: constructors run meanwhile.
constexpr std::chrono::seconds kGroupPatience(35);

/// What the head needs to start the actor; fails if an argument holds a reference to an actor.
forebay::Result<PlaceActor> placement(const ClusterSpawn& options, const Box& start) {
  auto packed = pack(start);
  if (!packed) {
    return fail(packed.error().code, "actor " + options.name + ": " + packed.error().message);
  }
  if (!packed->actors.empty() || !packed->objects.empty()) {
    return fail(forebay::Code::kInvalid, "actor " + options.name +
                                             ": its arguments must not hold references to "
                                             "actors or objects; send them in a message");
  }
  if (!(options.cpus >= 0 && options.cpus <= kMostCpus)) {
    return fail(forebay::Code::kInvalid,
                "actor " + options.name + ": its CPUs must be a number from 0 to 1,000,000");
  }
  PlaceActor place;
  place.node = options.node;
  ActorSpec& spec = place.spec;
  spec.name = options.name;
  spec.type = options.type;
  spec.start = std::move(packed->bytes);
  spec.mailbox_bytes = options.mailbox_bytes;
  spec.restarts = options.restarts;
  spec.period = options.period;
  spec.own_thread = options.own_thread;
  spec.cpu_thousandths = static_cast<std::uint64_t>(std::llround(options.cpus * 1000));
  spec.memory_bytes = options.memory_bytes;
  spec.pack = options.placing == Placing::kPack;
  spec.near = options.near;
  return place;
}

Future<TargetPtr> failed(const forebay::Error& error) {
  const Promise<TargetPtr> promise;
  promise.set(shown(error));
  return promise.future();
}

}  // namespace

class Cluster::Running {
 public:
  static forebay::Result<std::unique_ptr<Running>> join(const Options& options) {
    auto running = std::make_unique<Running>();
    auto net = NetworkEndpoint::make(
        {.keys = options.keys, .threads = options.threads, .say = options.on_message},
        running->clock_);
    if (!net) return fail(net.error().code, "keys: " + net.error().message);
    running->net_ = std::move(*net);
    running->head_ = without_scheme(options.head);
    if (auto status = running->net_->connect(running->head_); !status) {
      return fail(status.error().code, "head: " + status.error().message);
    }
    if (auto status = running->await_head(options.patience); !status) return pass(status);
    running->host_.emplace(running->net_->actors().host(),
                           objects_of(options.objects, "", *running->net_));
    publish(running->host_->objects(), *running->net_);
    running->resolver_ = running->net_->actors().spawn(
        {.name = "names", .mailbox_bytes = kNetMailbox},
        [resolver =
             NameResolver::Options{
                 .head = running->head_, .patience = options.patience, .say = options.on_message},
         &net = *running->net_] { return std::make_unique<NameResolver>(resolver, net); });
    return running;
  }

  /// Sends the resolver a SpawnNamed or FindNamed, and gives the actor that it finds.
  template <class Message>
  Future<TargetPtr> look_up(Message message) {
    return look_up_at(resolver_, *host_, std::move(message));
  }

  /// Finds actors by their names; may be called until the host has ended.
  std::function<Future<TargetPtr>(const std::string&)> finder() {
    return [resolver = resolver_, &host = *host_](const std::string& name) {
      return look_up_at(resolver, host, FindNamed{.name = name});
    };
  }

  /// Starts a task's actor each time it is called; may be called until the host has ended.
  std::function<Future<TargetPtr>()> starter(const ClusterSpawn& options,
                                             std::chrono::nanoseconds patience) {
    return [resolver = resolver_, &host = *host_, options, patience, names = task_names_] {
      ClusterSpawn named = options;
      named.name = names->next(options.type);
      auto place = placement(named, Box::of(StartArgs<>{}));
      if (!place) return failed(place.error());
      return look_up_at(resolver, host,
                        SpawnNamed{.place = std::move(*place), .patience = patience});
    };
  }

  DirectoryRef directory() { return net_->actor<DirectoryRef>(head_, kDirectoryName); }
  const std::string& head() const { return head_; }
  UserHost& host() { return *host_; }

 private:
  template <class Message>
  static Future<TargetPtr> look_up_at(const NameResolver::Ref& resolver, UserHost& host,
                                      Message message) {
    const Promise<TargetPtr> promise;
    message.found = [promise, &host](forebay::Result<std::shared_ptr<NamedActor>> actor) {
      if (!actor) return promise.set(shown(actor.error()));
      promise.set(TargetPtr(std::make_shared<LocalTarget>(UserRef(std::move(*actor)), host)));
    };
    if (auto status = resolver.tell(std::move(message)); !status) {
      promise.set(shown(status.error()));
    }
    return promise.future();
  }

  forebay::Status await_head(std::chrono::nanoseconds patience) {
    const AwaitedActor directory{.address = head_,
                                 .name = kDirectoryName,
                                 .patience = patience,
                                 .each = kHeadPatience,
                                 .any_error_passes = true};
    const auto answer = await_answer<DirectoryRef>(*net_, directory, QueryActors{});
    if (answer) return {};
    return fail(answer.error().code, "no head answers at " + head_ +
                                         "; is it running, and is it the right address?" +
                                         answer.error().message);
  }

  SystemClock clock_;
  std::string head_;
  const std::shared_ptr<TaskNames> task_names_ = std::make_shared<TaskNames>();
  std::optional<UserHost> host_;  // after the actors below have ended
  std::unique_ptr<NetworkEndpoint> net_;
  NameResolver::Ref resolver_;
};

Cluster::Cluster(std::unique_ptr<Running> running) : running_(std::move(running)) {}
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&&) noexcept = default;
Cluster::~Cluster() = default;

Result<Cluster> Cluster::join(const Options& options) {
  if (options.threads == 0) return Error{Code::kInvalid, "threads: must be at least 1"};
  auto running = Running::join(options);
  if (!running) return shown(running.error());
  return Cluster(std::move(*running));
}

Future<TargetPtr> Cluster::spawn_named(const ClusterSpawn& options, Box start) {
  auto place = placement(options, start);
  if (!place) return failed(place.error());
  return running_->look_up(SpawnNamed{.place = std::move(*place)});
}

std::function<Future<TargetPtr>()> Cluster::starter_of(const TaskOptions& options) {
  return running_->starter({.type = options.task,
                            .name = {},
                            .node = options.node,
                            .own_thread = true,
                            .cpus = options.cpus,
                            .memory_bytes = options.memory_bytes},
                           options.patience);
}

Future<std::vector<TargetPtr>> Cluster::spawn_all(const std::vector<ClusterSpawn>& group,
                                                  const Box& start) {
  const Promise<std::vector<TargetPtr>> promise;
  PlaceGroup message;
  for (const ClusterSpawn& options : group) {
    auto place = placement(options, start);
    if (!place) {
      promise.set(shown(place.error()));
      return promise.future();
    }
    message.members.push_back(std::move(*place));
  }
  const DirectoryRef directory = running_->directory();
  if (directory.receiver() == nullptr) {
    promise.set(Error{Code::kUnavailable, "no head answers at " + running_->head()});
    return promise.future();
  }
  ask_and_deliver(directory, std::move(message), kGroupPatience,
                  [promise, find = running_->finder()](auto placed) {
                    if (!placed) return promise.set(shown(placed.error()));
                    std::vector<Future<TargetPtr>> found;
                    for (const PlacedActor& actor : *placed) {
                      found.push_back(find(actor.name));
                    }
                    all_of(found).then([promise](Result<std::vector<TargetPtr>> targets) {
                      promise.set(std::move(targets));
                    });
                  });
  return promise.future();
}

Future<TargetPtr> Cluster::find_named(const std::string& name) {
  return running_->look_up(FindNamed{.name = name});
}

Future<ActorPlace> Cluster::place(const std::string& name) {
  const Promise<ActorPlace> promise;
  const DirectoryRef directory = running_->directory();
  if (directory.receiver() == nullptr) {
    promise.set(Error{Code::kUnavailable, "no head answers at " + running_->head()});
    return promise.future();
  }
  ask_and_deliver(directory, FindActor{name}, kHeadPatience,
                  [promise](forebay::Result<PlacedActor> place) {
                    if (!place) return promise.set(shown(place.error()));
                    promise.set(ActorPlace{.node = std::move(place->node), .moves = place->moves});
                  });
  return promise.future();
}

Host& Cluster::host() { return running_->host(); }

}  // namespace forebay::actors
