#include "engine/cluster/node_tuners.h"

#include <limits>
#include <map>
#include <stdexcept>

#include "core/runtime/ask.h"
#include "engine/cluster/node_logs.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_host.h"
#include "tuner/policy/policies.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

/// The question of a node with so many CPUs.
AskDecision question(const std::string& node, std::uint32_t cpus) {
  AskDecision asked;
  asked.node = node;
  for (const char* stage : {"load", "decode", "shuffle", "transform"}) {
    asked.description.stages.push_back({.name = stage, .max_actors = cpus});
    asked.seen.stages.push_back({.actors = 1});
  }
  asked.description.max_actors = 4 * cpus;
  asked.limits = {.cpus = static_cast<double>(cpus), .memory_bytes = std::uint64_t{1} << 30};
  asked.seen.limits = asked.limits;
  asked.seen.seconds = 2;
  return asked;
}

DecisionTaken taken(const std::string& node, std::uint64_t number) {
  DecisionTaken told;
  told.node = node;
  told.decision.number = number;
  told.decision.policy = "even";
  told.decision.seen.stages.resize(4);
  told.decision.applied = {.actors = {2, 2, 2, 2}, .prefetch = 1};
  told.decision.proposal.allocation = told.decision.applied;
  return told;
}

/// Throws where a node has exactly three actors of its first stage; elsewhere it
/// proposes the current allocation.
class Touchy final : public tuner::Policy {
 public:
  std::string_view name() const override { return "touchy"; }
  tuner::Proposal decide(const tuner::Observation& seen) override {
    if (seen.stages.front().actors == 3) throw std::runtime_error("three actors");
    return {.allocation = seen.allocation(), .reason = "touchy"};
  }
  std::string learned_state() const override { return "learned"; }
};

class Tuners {
 public:
  using Kept = std::map<std::string, std::string>;

  /// `earlier`: what earlier runs have learned, by kind of node.
  explicit Tuners(const std::string& policy = "even", const Kept& earlier = {}) : kept(earlier) {
    job_.tuner.policy = policy;
    job_.run.dir = dir_.path();
    NodeTuners::Options options{
        .job = job_,
        .command = "ingest",
        .note = [this](const std::string& text) { notes.push_back(text); },
        .find = [this](const std::string& kind) -> std::string {
          const auto found = kept.find(kind);
          return found == kept.end() ? "" : found->second;
        },
        .keep = [this](const std::string& kind, const std::string& state) { kept[kind] = state; }};
    if (policy == kCentralTuner) {
      options.central = CentralTuner::Options{
          .period = 2s,
          .own = "local",
          .on_decision = [this](const tuner::ClusterReport& seen, const tuner::ClusterAdvice&) {
            reports.push_back(seen);
          }};
    }
    if (policy == "touchy") {
      options.make = [](std::string_view,
                        const tuner::PolicyContext&) -> Result<std::unique_ptr<tuner::Policy>> {
        return std::make_unique<Touchy>();
      };
    }
    actor_ = host_.spawn({.name = "tuners"},
                         [options] { return std::make_unique<NodeTuners>(options); });
  }
  Result<tuner::Proposal> ask_for(AskDecision asked) {
    auto answer = ask(actor_, std::move(asked), 1s);
    host_.deliver_all();
    auto advised = answer.wait();
    if (!advised) return pass(advised);
    return std::move(advised->proposal);
  }
  template <class Message>
  void tell(Message told) {
    REQUIRE(actor_.tell(std::move(told)));
    host_.deliver_all();
  }
  Result<tuner::DecisionLog> log(const std::string& node) const {
    return tuner::read_decision_log(node_log_path(dir_.path(), node));
  }
  Result<tuner::DecisionLog> earlier_log(const std::string& node, std::uint32_t number) const {
    return tuner::read_decision_log(earlier_node_log_path(dir_.path(), node, number));
  }
  JobSpec& job() { return job_; }
  void let_pass(std::chrono::nanoseconds time) { host_.advance(time); }
  const test::TempDir& dir() const { return dir_; }

  std::vector<std::string> notes;
  std::vector<tuner::ClusterReport> reports;  ///< Of a central tuner's decisions.
  Kept kept;

 private:
  test::TempDir dir_;
  JobSpec job_;
  test::TestHost host_;
  NodeTuners::Ref actor_;
};

TEST_CASE("each node has a policy of its own, for its own machine", "[tools][cluster]") {
  Tuners tuners;
  const auto small = tuners.ask_for(question("small", 4));
  const auto large = tuners.ask_for(question("large", 16));
  REQUIRE(small);
  REQUIRE(large);
  CHECK(small->allocation.total_actors() == 4);
  CHECK(large->allocation.total_actors() == 16);
}

TEST_CASE("a node whose machine is another one gets a new policy and a new log",
          "[tools][cluster]") {
  Tuners tuners;
  REQUIRE(tuners.ask_for(question("w", 4)));
  tuners.tell(taken("w", 1));
  REQUIRE(tuners.ask_for(question("w", 4)));
  CHECK(tuners.log("w").value().decisions.size() == 1);
  const auto other = tuners.ask_for(question("w", 8));
  REQUIRE(other);
  CHECK(other->allocation.total_actors() == 8);
  CHECK(tuners.log("w").value().decisions.empty());
  CHECK(tuners.earlier_log("w", 1).value().decisions.size() == 1);
  REQUIRE(tuners.ask_for(question("w", 4)));
  CHECK(tuners.earlier_log("w", 1).value().header.limits.cpus == 4);
  CHECK(tuners.earlier_log("w", 2).value().header.limits.cpus == 8);
}

TEST_CASE("a run keeps no earlier log of the run before", "[tools][cluster]") {
  Tuners tuners;
  tuners.dir().write("decisions-w.jsonl", "of the run before");
  tuners.dir().write("decisions-w+1.jsonl", "of the run before");
  tuners.dir().write("decisions-w+2.jsonl", "of the run before");
  REQUIRE(tuners.ask_for(question("w", 4)));
  for (const std::uint32_t number : {1U, 2U}) {
    CHECK(tuners.earlier_log("w", number).error().code == Code::kNotFound);
  }
}

TEST_CASE("a node that was silent for an hour is forgotten when another one comes",
          "[tools][cluster]") {
  Tuners tuners;
  REQUIRE(tuners.ask_for(question("w", 4)));
  tuners.tell(taken("w", 1));
  tuners.let_pass(59min);
  REQUIRE(tuners.ask_for(question("v", 4)));
  tuners.tell(taken("w", 2));
  CHECK(tuners.log("w").value().decisions.size() == 2);
  tuners.let_pass(2min);
  REQUIRE(tuners.ask_for(question("u", 4)));
  tuners.tell(taken("w", 3));
  CHECK(tuners.log("w").value().decisions.size() == 2);
  REQUIRE(tuners.ask_for(question("w", 4)));
  CHECK(tuners.log("w").value().decisions.empty());
  CHECK(tuners.earlier_log("w", 1).value().decisions.size() == 2);
}

TEST_CASE("a node that describes no pipeline on a machine is refused", "[tools][cluster]") {
  Tuners tuners;
  AskDecision asked = question("w", 4);
  switch (GENERATE(range(0, 5))) {
    case 0:
      asked.limits.memory_bytes = 0;
      break;
    case 1:
      asked.limits.cpus = 0;
      break;
    case 2:
      asked.limits.cpus = std::numeric_limits<double>::infinity();
      break;
    case 3:
      asked.description.stages[1].max_actors = 0;
      break;
    default:
      asked.seen.stages.pop_back();
  }
  CHECK_FALSE(tuners.ask_for(asked));
  CHECK(tuners.ask_for(question("w", 4)));
}

TEST_CASE("a central tuner sees what the trainer and all nodes did", "[tools][cluster]") {
  Tuners tuners("central");
  REQUIRE(tuners.ask_for(question("local", 4)));
  tuners.tell(TrainerSeen{.at = 10s, .waited = 1s});
  tuners.let_pass(2s);
  REQUIRE(tuners.ask_for(question("w", 4)));
  tuners.tell(TrainerSeen{.at = 14s, .waited = 2s, .paused = 1s});
  tuners.let_pass(2s);
  REQUIRE(tuners.ask_for(question("local", 4)));
  REQUIRE(tuners.reports.size() == 3);
  CHECK(tuners.reports.front().at_seconds == 0);
  const tuner::ClusterReport& last = tuners.reports.back();
  CHECK(last.at_seconds == 4);
  CHECK(last.nodes.size() == 2);
  CHECK(last.trainer.seconds == 3);
  CHECK(last.trainer.waited_seconds == 1);
  CHECK(last.trainer.paused_seconds == 1);
  CHECK(tuners.log("w").value().header.policy == "central");
}

TEST_CASE("a node that has other stages than the others decides by the model, and says so once",
          "[tools][cluster]") {
  Tuners tuners("central");
  REQUIRE(tuners.ask_for(question("local", 4)));
  AskDecision other = question("w", 4);
  other.description.stages.pop_back();
  other.seen.stages.pop_back();
  for (int i = 0; i < 3; ++i) {
    tuners.let_pass(2s);
    const auto proposed = tuners.ask_for(other);
    REQUIRE(proposed);
    CHECK(proposed->allocation.actors.size() == 3);
  }
  REQUIRE(tuners.notes.size() == 1);
  CHECK(tuners.notes.front() ==
        "the tuner of w: central threw: has other stages than the other nodes; the model decides "
        "there");
  // The first node is compared with the others, too.
  REQUIRE(tuners.ask_for(question("v", 4)));
  AskDecision changed = question("local", 4);
  changed.description.stages.pop_back();
  changed.seen.stages.pop_back();
  CHECK(tuners.ask_for(changed)->allocation.actors.size() == 3);
  CHECK(tuners.notes.size() == 2);
}

TEST_CASE("what no policy has learned is not kept for the next run", "[tools][cluster]") {
  Tuners tuners("central");
  REQUIRE(tuners.ask_for(question("local", 4)));
  for (std::uint64_t i = 1; i <= 10; ++i) tuners.tell(taken("local", i));
  CHECK(tuners.kept.empty());
}

TEST_CASE("decisions for a node are logged", "[tools][cluster]") {
  Tuners tuners;
  REQUIRE(tuners.ask_for(question("host/1", 4)));
  tuners.tell(taken("host/1", 1));
  tuners.tell(taken("host/1", 2));
  const auto log = tuners.log("host/1").value();
  CHECK(log.header.policy == "even");
  CHECK(log.header.command == "ingest");
  REQUIRE(log.decisions.size() == 2);
  CHECK(log.decisions.back().number == 2);
  CHECK(log.decisions.back().applied.actors == std::vector<std::uint32_t>{2, 2, 2, 2});
}

TEST_CASE("a node's log holds the experience that its policy began with, where that fits",
          "[tools][cluster]") {
  tuner::PolicyContext context;
  context.description = question("w", 4).description;
  context.limits = question("w", 4).limits;
  const std::string learned = tuner::make_policy("intune", context).value()->learned_state();
  REQUIRE_FALSE(learned.empty());
  CHECK(kind_of(context.description, context.limits) == "4-cpus-16-actors");
  const Tuners::Kept kept{{"4-cpus-16-actors", learned}};
  Tuners tuners("intune", kept);
  REQUIRE(tuners.ask_for(question("w", 4)));
  CHECK(tuners.log("w").value().header.restored == learned);
  CHECK(tuners.notes.empty());
  Tuners others("intune", kept);
  AskDecision fewer = question("w", 4);
  fewer.description.stages.pop_back();
  fewer.seen.stages.pop_back();
  REQUIRE(others.ask_for(fewer));
  CHECK(others.log("w").value().header.restored.empty());
  REQUIRE(others.notes.size() == 1);
  CHECK(others.notes.front().starts_with(
      "the tuner of w learns anew: what was learned before is of a run with the stages "));
}

TEST_CASE("an invalid observation of a pipeline is refused", "[tools][cluster]") {
  Tuners tuners;
  AskDecision asked = question("w", 4);
  SECTION("no stages") {
    asked.description.stages.clear();
    asked.seen.stages.clear();
  }
  SECTION("another number of stages than was seen") { asked.seen.stages.pop_back(); }
  SECTION("too many stages") {
    asked.description.stages.resize(65);
    asked.seen.stages.resize(65);
  }
  SECTION("no CPUs") { asked.limits.cpus = 0; }
  SECTION("no prefetch") { asked.description.max_prefetch = 0; }
  const auto refused = tuners.ask_for(asked);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInvalid);
  CHECK_FALSE(tuners.log("w"));
}

TEST_CASE("decisions that fit no known node change nothing", "[tools][cluster]") {
  Tuners tuners;
  REQUIRE(tuners.ask_for(question("w", 4)));
  tuners.tell(taken("nobody", 1));
  DecisionTaken short_seen = taken("w", 1);
  short_seen.decision.seen.stages.pop_back();
  tuners.tell(std::move(short_seen));
  DecisionTaken short_applied = taken("w", 1);
  short_applied.decision.applied.actors.pop_back();
  tuners.tell(std::move(short_applied));
  DecisionTaken short_proposal = taken("w", 1);
  short_proposal.decision.proposal.allocation.actors.pop_back();
  tuners.tell(std::move(short_proposal));
  CHECK(tuners.log("w").value().decisions.empty());
}

TEST_CASE("an unknown policy is named, and a log that cannot be written is reported",
          "[tools][cluster]") {
  Tuners tuners;
  SECTION("policy") {
    tuners.job().tuner.policy = "evne";
    const auto refused = tuners.ask_for(question("w", 4));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("evne") != std::string::npos);
  }
  SECTION("log") {
    tuners.job().run.dir = tuners.dir().path("nowhere");
    REQUIRE(tuners.ask_for(question("w", 4)));
    REQUIRE(tuners.notes.size() == 1);
    CHECK(tuners.notes.front().find("decisions for w are not logged") == 0);
    tuners.tell(taken("w", 1));
    CHECK(tuners.notes.size() == 1);
  }
}

TEST_CASE("what is learned is kept for each kind of node, by the node that decided most often",
          "[tools][cluster]") {
  Tuners tuners("intune");
  REQUIRE(tuners.ask_for(question("a", 4)));
  REQUIRE(tuners.ask_for(question("b", 4)));
  REQUIRE(tuners.ask_for(question("large", 8)));
  tuners.tell(taken("a", 10));
  tuners.tell(taken("large", 5));
  REQUIRE(tuners.kept.size() == 2);
  const std::string large = tuners.kept.at("8-cpus-32-actors");
  // Another kind of node, and one that has decided less often, change nothing of it.
  tuners.kept["4-cpus-16-actors"] = "a's";
  tuners.tell(taken("b", 5));
  tuners.tell(taken("large", 10));
  CHECK(tuners.kept.at("4-cpus-16-actors") == "a's");
  tuners.tell(taken("b", 15));
  CHECK(tuners.kept.at("4-cpus-16-actors") != "a's");
  CHECK_FALSE(large.empty());
}

TEST_CASE("a node that joins later begins with what others of its kind have learned in this run",
          "[tools][cluster]") {
  Tuners tuners("intune");
  REQUIRE(tuners.ask_for(question("first", 4)));
  tuners.tell(taken("first", 5));
  REQUIRE(tuners.ask_for(question("second", 4)));
  CHECK(tuners.log("second").value().header.restored == tuners.kept.at("4-cpus-16-actors"));
  REQUIRE(tuners.ask_for(question("other", 8)));
  CHECK(tuners.log("other").value().header.restored.empty());
}

TEST_CASE("a policy that throws for one node is overruled there and asked for the others",
          "[tools][cluster]") {
  Tuners tuners("touchy");
  AskDecision bad = question("bad", 4);
  bad.seen.stages.front().actors = 3;
  for (int i = 0; i < 4; ++i) {
    const auto overruled = tuners.ask_for(bad);
    REQUIRE(overruled);
    CHECK(overruled->allocation.actors.size() == 4);
    CHECK(overruled->reason != "touchy");
    CHECK(tuners.ask_for(question("good", 4)).value().reason == "touchy");
  }
  REQUIRE(tuners.notes.size() == 3);
  CHECK(tuners.notes[0] == "the tuner of bad: touchy threw: three actors; the model decides there");
  CHECK(tuners.notes[2].ends_with("from now on"));
  tuners.tell(taken("bad", 4));
  const tuner::Decision logged = tuners.log("bad").value().decisions.front();
  CHECK(logged.policy == "fallback");
  CHECK(logged.fault == "touchy is not asked after 3 faults in a row");
  // After three faults it stays overruled, for this node only.
  bad.seen.stages.front().actors = 1;
  CHECK(tuners.ask_for(bad).value().reason != "touchy");
}

TEST_CASE("a policy that throws now and then is asked again", "[tools][cluster]") {
  Tuners tuners("touchy");
  AskDecision asked = question("w", 4);
  for (int i = 0; i < 5; ++i) {
    asked.seen.stages.front().actors = 3;
    CHECK(tuners.ask_for(asked).value().reason != "touchy");
    asked.seen.stages.front().actors = 1;
    CHECK(tuners.ask_for(asked).value().reason == "touchy");
  }
}

}  // namespace
}  // namespace forebay
