#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <forebay/cluster.h>

#include "core/base/random.h"
#include "core/runtime/ask.h"
#include "engine/actors/cluster/lost_nodes.h"
#include "engine/actors/cluster/named_actor.h"
#include "engine/actors/kept_state.h"
#include "tests/engine/actors/cluster_world.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using test::ClusterProcess;
using test::ClusterWorld;
using test::FakeLibraries;
using test::FakeLibrary;
using test::TestHost;

/// Answered with how many there were, this one included; once it is kept, if `keep`.
struct Step {
  static constexpr std::string_view kTag = "fence/step";
  using Reply = int;
  bool keep = false;
  static auto fields(auto& self) { return std::tie(self.keep); }
};
/// Answered when the test says so.
struct Later {
  static constexpr std::string_view kTag = "fence/later";
  using Reply = int;
  static auto fields(auto&) { return std::tie(); }
};

struct Steps : actors::Actor<Steps, Step, Later> {
  explicit Steps(int from) : count(from) {}
  actors::Future<int> on(const Step& step, actors::Context& context) {
    const actors::Promise<int> answer;
    ++count;
    if (!step.keep) {
      answer.set(count);
    } else {
      context.then(keep(context), [answer, now = count](actors::Status kept) {
        if (kept) return answer.set(now);
        answer.set(kept.error());
      });
    }
    return answer.future();
  }
  actors::Future<int> on(const Later&) { return later.future(); }
  int save() const { return count; }
  void load(int kept) { count = kept; }
  int count;
  inline static actors::Promise<int> later;
};

using Answers = std::vector<actors::Result<int>>;

/// The number, or the error's message.
std::string text_of(const actors::Result<int>& answer) {
  return answer ? std::to_string(*answer) : answer.error().message;
}

/// Asks, and collects the answer when it comes.
template <class Message>
void ask_into(const Steps::Ref& actor, Message message, Answers& into) {
  actor.ask(std::move(message), 60s).then([&into](actors::Result<int> answer) {
    into.push_back(std::move(answer));
  });
}

void add_type(FakeLibraries& its) {
  static_cast<actors::ActorTypes&>(its.loaded).add<Steps, int>("libsteps.so");
  its.libraries = {FakeLibrary("libsteps.so", "steps")};
}

/// Two nodes with the type Steps, and an actor "a" that may be started anew.
struct FenceWorld : ClusterWorld {
  FenceWorld() : one(add_node("n1", add_type)), two(add_node("n2", add_type)) {
    PlaceActor place;
    place.spec = {
        .name = "a",
        .type = "libsteps.so",
        .start = pack(actors::Box::of(actors::StartArgs<int>{.values = {0}})).value().bytes,
        .mailbox_bytes = 1 << 20,
        .restarts = 1000,
        .period = 1min};
    place.node = "n1";
    const auto placed = ask(directory, std::move(place));
    REQUIRE(placed);
    first = copy_on(one, placed->life);
  }

  /// A process's own reference to its copy.
  Steps::Ref copy_on(ClusterProcess& process, std::uint64_t life) {
    const auto found = ask(process.actors, LocateActor{"a", life});
    REQUIRE(found);
    return Steps::Ref(std::make_shared<LocalTarget>(*found, process.users));
  }
  void cut(const std::string& node) {
    network.cut(node, "head");
    network.cut("head", node);
  }

  ClusterProcess& one;
  ClusterProcess& two;
  Steps::Ref first;
};

}  // namespace

TEST_CASE("a fenced copy handles nothing that waits for it", "[actors][fence]") {
  TestHost host;
  UserHost users(host.host());
  const auto kept = std::make_shared<KeptState>();
  const auto target = users.spawn(
      {.name = "a"}, [] { return std::make_unique<Steps>(0); }, kept, nullptr);
  const Steps::Ref actor(target);
  Answers answers;
  ask_into(actor, Step{}, answers);
  host.deliver_all();
  ask_into(actor, Step{}, answers);
  REQUIRE(actor.tell(Step{}));
  kept->fence();
  host.deliver_all();
  REQUIRE(answers.size() == 2);
  CHECK(*answers[0] == 1);
  CHECK(answers[1].error().code == actors::Code::kUnavailable);
  CHECK(answers[1].error().message == "it lives elsewhere by now");
  CHECK(host.unheard().empty());  // The message without an asker is not reported.
}

TEST_CASE("a fenced copy hears no answer that it waited for before", "[actors][fence]") {
  TestHost host;
  UserHost users(host.host());
  std::vector<KeptState::Done> copies;
  const auto kept = std::make_shared<KeptState>(
      KeptState::Bytes(),
      [&](const KeptState::Bytes&, KeptState::Done done) { copies.push_back(std::move(done)); });
  const auto target = users.spawn(
      {.name = "a"}, [] { return std::make_unique<Steps>(0); }, kept, nullptr);
  Answers answers;
  ask_into(Steps::Ref(target), Step{.keep = true}, answers);
  host.deliver_all();
  REQUIRE(copies.size() == 1);
  copies[0](Status());
  kept->fence();  // The answer that it is kept is on its way to the actor.
  host.deliver_all();
  REQUIRE(answers.size() == 1);
  CHECK(text_of(answers[0]) == "whoever had to answer has ended without an answer");
}

namespace {

/// An actor on node "n1", as a program of the cluster reaches it.
struct NamedSteps {
  NamedSteps() {
    Steps::later = {};
    named->move_to("n1", there());
  }
  ReceiverPtr there() const { return local_actor(*target).receiver; }

  TestHost host;
  UserHost users{host.host()};
  const actors::TargetPtr target = users.spawn(
      {.name = "a"}, [] { return std::make_unique<Steps>(0); }, nullptr, nullptr);
  const std::shared_ptr<NamedActor> named = std::make_shared<NamedActor>(host.host(), "a", 7);
  const Steps::Ref actor{std::make_shared<LocalTarget>(UserRef(named), users)};
  Answers answers;
};

}  // namespace

TEST_CASE_METHOD(NamedSteps, "an answer that comes after the head has lost the node does not count",
                 "[actors][fence]") {
  ask_into(actor, Later{}, answers);
  host.deliver_all();
  named->cut_off({Code::kUnavailable, "the head has lost node n1"});
  Steps::later.set(5);
  host.deliver_all();
  REQUIRE(answers.size() == 1);
  REQUIRE(!answers[0]);
  CHECK(answers[0].error().message ==
        "actor a on node n1: its node was lost before the answer came");
  ask_into(actor, Step{}, answers);  // It is refused while it is looked for.
  CHECK(answers[1].error().code == actors::Code::kUnavailable);
  named->move_to("n2", there());
  ask_into(actor, Step{}, answers);
  host.deliver_all();
  CHECK(*answers[2] == 1);
}

TEST_CASE_METHOD(
    NamedSteps,
    "an answer from a lost node does not count, also if its actor was found again since",
    "[actors][fence]") {
  ask_into(actor, Later{}, answers);
  host.deliver_all();
  named->move_to("n1", there());
  named->cut_off({Code::kUnavailable, "the head has lost node n1"});
  Steps::later.set(5);
  host.deliver_all();
  REQUIRE(answers.size() == 1);
  CHECK_FALSE(answers[0]);
}

TEST_CASE("a thread that asks an actor of another node can help where that node is reached",
          "[actors]") {
  struct Work final : WaitingWork {
    void help_until(const std::function<bool()>&) override { ++helped; }
    void look_again() override {}
    int helped = 0;
  };
  struct Elsewhere final : Receiver {
    Elsewhere(ActorHost& host, std::shared_ptr<WaitingWork> with)
        : Receiver(host, ActorId::kNobody), work(std::move(with)) {}
    Status push(EnvelopePtr& envelope, MailboxCredit) override {
      envelope.reset();
      return {};
    }
    void watch(ReceiverPtr) override {}
    void stop_behind_queue() override {}
    std::shared_ptr<WaitingWork> waiting_work() const override { return work; }
    const std::shared_ptr<WaitingWork> work;
  };
  test::TestHost host;
  UserHost users(host.host());
  const auto named = std::make_shared<NamedActor>(host.host(), "a", 7);
  const LocalTarget target(UserRef(named), users);
  CHECK(target.waiting_work() == nullptr);  // It is nowhere yet.
  const auto work = std::make_shared<Work>();
  named->move_to("n1", std::make_shared<Elsewhere>(host.host(), work));
  REQUIRE(target.waiting_work() != nullptr);
  target.waiting_work()->help_until([] { return true; });
  CHECK(work->helped == 1);
}

TEST_CASE("lives up to the last one on a lost node were lost, of the nodes lost last",
          "[actors][fence]") {
  LostNodes lost;
  lost.add({"n1", 5});
  CHECK(lost.has("n1", 5));
  CHECK_FALSE(lost.has("n1", 6));
  CHECK_FALSE(lost.has("n2", 5));
  lost.add({"n1", 9});
  CHECK(lost.has("n1", 6));
  for (std::uint64_t i = 0; i < LostNodes::kMost; ++i) lost.add({"m" + std::to_string(i), 100 + i});
  CHECK_FALSE(lost.has("n1", 6));  // One had to go.
  CHECK(lost.list().size() == LostNodes::kMost);
  lost.add({std::string(129, 'n'), 9999});
  CHECK_FALSE(lost.has(std::string(129, 'n'), 1));  // No node can be named so.
  CHECK(lost.has("m0", 100));
  lost.erase("m0");
  CHECK_FALSE(lost.has("m0", 1));
}

TEST_CASE("a head tells at most 65,536 programs of lost nodes, and forgets those that have ended",
          "[actors][fence]") {
  TestHost host;
  MemoryStore store;
  const ActorDirectory::Ref directory = host.spawn(
      {.name = "directory", .mailbox_bytes = std::size_t{1} << 30},
      [&store] { return std::make_unique<ActorDirectory>(ActorDirectory::Options{}, store); });
  std::vector<std::shared_ptr<NamedActor>> programs;
  const auto add_program = [&] {
    programs.push_back(std::make_shared<NamedActor>(host.host(), "program", programs.size()));
    programs.back()->move_to("here", directory.receiver());  // It can be watched from now on.
  };
  const auto follow = [&](const std::shared_ptr<NamedActor>& program) {
    Status followed;
    ask_and_deliver(directory, FollowNodes{ActorRef<LostNode>(program)}, 1s,
                    [&followed](const Result<std::vector<LostNode>>& lost) {
                      followed = lost ? Status() : tl::unexpected<Error>(lost.error());
                    });
    host.deliver_all();
    return followed;
  };
  bool all = true;
  for (int i = 0; i < 65'536; ++i) {
    add_program();
    all = all && follow(programs.back());
  }
  CHECK(all);
  add_program();
  CHECK(follow(programs.back()).error().code == Code::kOverloaded);
  CHECK(follow(programs.front()));  // It is known.
  programs.front()->lose({});
  host.deliver_all();
  CHECK(follow(programs.back()));
}

TEST_CASE_METHOD(FenceWorld, "an actor that waits for a node starts where its library is loaded",
                 "[actors][libraries]") {
  const FakeLibrary library = one.libraries.libraries[0];
  cut("n1");
  cut("n2");
  pass(3s);
  add_node("n3", [](FakeLibraries& its) {
    add_type(its);
    its.libraries.clear();  // It says later that it has it.
  });
  CHECK(ask(directory, FindActor{"a"}).error().code == Code::kUnavailable);
  REQUIRE(directory.tell(LibraryLoaded{"n3", library.info}));
  pass(100ms);
  CHECK(ask(directory, FindActor{"a"})->node == "n3");
}

TEST_CASE_METHOD(
    FenceWorld,
    "the copy on a node that was cut off keeps nothing, and ends when the network heals",
    "[actors][fence]") {
  Answers answers;
  ask_into(first, Step{.keep = true}, answers);
  pass(100ms);
  REQUIRE(answers.size() == 1);
  CHECK(text_of(answers[0]) == "1");
  cut("n1");
  pass(3s);
  const auto moved = ask(directory, FindActor{"a"});
  REQUIRE(moved);
  CHECK(moved->node == "n2");
  const Steps::Ref second = copy_on(two, moved->life);
  ask_into(second, Step{.keep = true}, answers);
  ask_into(first, Step{.keep = true}, answers);  // It still runs, on its side of the cut.
  pass(100ms);
  REQUIRE(answers.size() == 3);
  CHECK(text_of(answers[1]) == "no head can be reached that keeps the state");
  CHECK(text_of(answers[2]) == "2");
  network.heal_all();
  pass(3s);
  CHECK(one.said == "actor a lives elsewhere by now, and ends here\n");
  ask_into(first, Step{}, answers);
  ask_into(second, Step{}, answers);
  pass(100ms);
  REQUIRE(answers.size() == 5);
  CHECK(text_of(answers[3]) == "actor a is dead");
  CHECK(text_of(answers[4]) == "3");
}

TEST_CASE("whatever is cut and when, each kept state follows the one before", "[actors][fence]") {
  constexpr std::uint64_t kSeed = 4711;
  for (std::uint64_t seed = kSeed; seed < kSeed + 20; ++seed) {
    CAPTURE(seed);
    FenceWorld world;
    Random random(seed);
    std::vector<Steps::Ref> copies{world.first};  // also those that have ended
    std::uint64_t life = 0;
    Answers answers;
    for (int round = 0; round < 40; ++round) {
      switch (random.below(4)) {
        case 0:
          world.cut(random.below(2) == 0 ? "n1" : "n2");
          break;
        case 1:
          world.network.heal_all();
          break;
        default:
          break;
      }
      for (const Steps::Ref& copy : copies) ask_into(copy, Step{.keep = true}, answers);
      world.pass(std::chrono::milliseconds(50 * (1 + random.below(20))));
      const auto now = world.ask(world.directory, FindActor{"a"});
      if (!now || now->life == life) continue;
      life = now->life;
      ClusterProcess& there = now->node == "n1" ? world.one : world.two;
      const auto found = world.ask(there.actors, LocateActor{"a", life});
      if (found) copies.push_back(Steps::Ref(std::make_shared<LocalTarget>(*found, there.users)));
    }
    world.network.heal_all();
    world.pass(70s);
    int last = 0;
    std::size_t kept = 0;
    for (const auto& answer : answers) {
      if (!answer) continue;
      CHECK(*answer > last);  // No state was kept twice, or by two copies.
      last = *answer;
      ++kept;
    }
    CHECK(kept >= 10);
    const auto end = world.ask(world.directory, FindActor{"a"});
    REQUIRE(end);
    Answers final_answer;
    for (const Steps::Ref& copy : copies) ask_into(copy, Step{}, final_answer);
    world.pass(100ms);
    std::size_t alive = 0;
    for (const auto& answer : final_answer) alive += answer ? 1 : 0;
    CHECK(alive <= 2);  // The last copy, which may be in the list twice.
  }
}

}  // namespace forebay
