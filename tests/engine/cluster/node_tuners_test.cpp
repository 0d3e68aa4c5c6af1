#include "engine/cluster/node_tuners.h"

#include "core/runtime/ask.h"
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

class Tuners {
 public:
  explicit Tuners(const std::string& policy = "even", const std::string& learned_state = "") {
    job_.tuner.policy = policy;
    job_.run.dir = dir_.path();
    actor_ = host_.spawn({.name = "tuners"}, [this, learned_state] {
      return std::make_unique<NodeTuners>(
          NodeTuners::Options{.job = job_,
                              .command = "ingest",
                              .note = [this](const std::string& text) { notes.push_back(text); },
                              .learned_state = learned_state});
    });
  }
  Result<tuner::Proposal> ask_for(AskDecision asked) {
    auto answer = ask(actor_, std::move(asked), 1s);
    host_.deliver_all();
    return answer.wait();
  }
  void tell(DecisionTaken told) {
    REQUIRE(actor_.tell(std::move(told)));
    host_.deliver_all();
  }
  Result<tuner::DecisionLog> log(const std::string& node) const {
    return tuner::read_decision_log(node_log_path(dir_.path(), node));
  }
  JobSpec& job() { return job_; }
  const test::TempDir& dir() const { return dir_; }

  std::vector<std::string> notes;

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
}

TEST_CASE("decisions for a node are logged", "[tools][cluster]") {
  Tuners tuners;
  REQUIRE(tuners.ask_for(question("host/1", 4)));
  tuners.tell(taken("host/1", 1));
  tuners.tell(taken("host/1", 2));
  CHECK(node_log_path("d", "host/1") == "d/decisions-host_1.jsonl");
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
  Tuners tuners("intune", learned);
  REQUIRE(tuners.ask_for(question("w", 4)));
  CHECK(tuners.log("w").value().header.restored == learned);
  CHECK(tuners.notes.empty());
  Tuners others("intune", learned);
  AskDecision fewer = question("w", 4);
  fewer.description.stages.pop_back();
  fewer.seen.stages.pop_back();
  REQUIRE(others.ask_for(fewer));
  CHECK(others.log("w").value().header.restored.empty());
  REQUIRE(others.notes.size() == 1);
  CHECK(others.notes.front().starts_with("the tuner of w learns anew"));
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

}  // namespace
}  // namespace forebay
