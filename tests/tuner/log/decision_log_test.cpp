#include "tuner/log/decision_log.h"

#include <cmath>
#include <limits>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

LogHeader header() {
  LogHeader header;
  header.policy = "greedy";
  header.command = "ingest";
  header.description.stages = {{"load", 8, 100}, {"udf", 4, 200}};
  header.description.fixed_bytes = std::uint64_t{1} << 40;
  header.limits = {.cpus = 2.5, .memory_bytes = 1 << 30};
  header.start = {{1, 1}, 3};
  return header;
}

Decision decision() {
  Decision decision;
  decision.number = 7;
  decision.policy = "greedy";
  decision.seen.at_seconds = 1.0 / 3;
  decision.seen.seconds = 0.1 + 0.2;
  decision.seen.stages.resize(2);
  decision.seen.stages[1].done = ~std::uint64_t{0};
  decision.seen.stages[1].done_seconds_squared = 1e-300;
  decision.proposal.allocation.actors = {3, 2};
  decision.proposal.allocation.prefetch = 5;
  decision.proposal.expected_splits_per_second = 12.75;
  decision.proposal.reason = "udf holds \"all\" up\n";
  decision.proposal.beliefs = {.stages = {{.seconds = 0.1, .slow = 1.5}, {.max_rate = 1.0 / 7}},
                               .trainer_rate = 30,
                               .cpus = 2.5,
                               .missing = 0.1,
                               .outcome = "more of load brought 3 % less: given up"};
  decision.applied.actors = {3, 2};
  decision.applied.prefetch = 4;
  decision.guarded = {"prefetch 5 -> 4: memory"};
  return decision;
}

std::string log_text() { return to_line(header()) + '\n' + to_line(decision()) + '\n'; }

std::string why(const std::string& text) {
  auto log = parse_decision_log(text, "d.jsonl");
  REQUIRE_FALSE(log);
  CHECK(log.error().code == Code::kCorrupt);
  return log.error().message;
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a decision is read from its line bit for bit", "[tuner][log]") {
  auto log = parse_decision_log(log_text(), "d.jsonl");
  REQUIRE(log);
  CHECK(to_line(log->header) == to_line(header()));
  REQUIRE(log->decisions.size() == 1);
  const Decision& back = log->decisions[0];
  CHECK(to_line(back) == to_line(decision()));
  CHECK(back.seen.seconds == 0.1 + 0.2);
  CHECK(back.seen.stages[1].done == ~std::uint64_t{0});
  REQUIRE(back.proposal.beliefs.stages.size() == 2);
  CHECK(back.proposal.beliefs.stages[1].max_rate == 1.0 / 7);
  CHECK(back.proposal.reason == "udf holds \"all\" up\n");
}

TEST_CASE("a proposal whose expectation is not a number is logged", "[tuner][log]") {
  Decision odd = decision();
  odd.proposal.expected_splits_per_second = std::numeric_limits<double>::infinity();
  auto log = parse_decision_log(to_line(header()) + '\n' + to_line(odd) + '\n', "d.jsonl");
  REQUIRE(log);
  CHECK(std::isnan(log->decisions[0].proposal.expected_splits_per_second));
}

TEST_CASE("a log of another version is refused by name", "[tuner][log]") {
  CHECK(why(with(log_text(), "\"forebay_decisions\":3", "\"forebay_decisions\":1")) ==
        "d.jsonl, line 1: the log is of version 1, this program reads version 3");
  CHECK(why("{\"rows\":1}\n") == "d.jsonl, line 1: this is no decision log");
  CHECK(why("") == "d.jsonl: this is no decision log");
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  CHECK(why("{\"forebay_decisions\":" + deep + "}\n") ==
        "d.jsonl, line 1: this is no decision log");
}

TEST_CASE("a damaged line is refused with its number and the fault", "[tuner][log]") {
  const std::string text = log_text();
  CHECK(why(text + "{\"number\":8,\n" + to_line(decision()) + '\n') ==
        "d.jsonl, line 3: not valid JSON");
  CHECK(why(with(text, "\"number\":7", "\"number\":-7")) ==
        "d.jsonl, line 2: number is not a whole number");
  CHECK(why(with(text, "\"number\":7,", "")) == "d.jsonl, line 2: number is missing");
  CHECK(why(with(text, "\"number\":7", "\"more\":1,\"number\":7")) ==
        "d.jsonl, line 2: more is unknown");
  CHECK(why(with(text, "\"leaving\":0", "\"leaving\":4294967296")) ==
        "d.jsonl, line 2: seen.stages[0].leaving is too large");
  CHECK(why(with(text, "\"applied\":{\"actors\":[3,2]", "\"applied\":{\"actors\":[3]")) ==
        "d.jsonl, line 2: applied.actors does not fit the layout");
  CHECK(why(with(text, "\"allocation\":{\"actors\":[3,2]", "\"allocation\":{\"actors\":[]")) ==
        "d.jsonl, line 2: proposal.allocation.actors does not fit the layout");
  CHECK(why(with(text, "\"beliefs\":{\"stages\":[{", "\"beliefs\":{\"stages\":[{},{")) ==
        "d.jsonl, line 2: proposal.beliefs.stages[0].seconds is missing");
  CHECK(why(with(text, ",{\"seconds\":0.0",
                 ",{\"seconds\":0.0,\"slow\":1.0,\"cpu\":1.0,"
                 "\"max_rate\":0.0,\"rate\":0.0,\"noise\":0.0,\"doubt\":0.0},"
                 "{\"seconds\":0.0")) ==
        "d.jsonl, line 2: proposal.beliefs.stages does not fit the layout");
  CHECK(why(with(text, "\"start\":{\"actors\":[1,1]", "\"start\":{\"actors\":[1]")) ==
        "d.jsonl, line 1: start.actors does not fit the layout");
}

TEST_CASE("the unfinished last line of a killed run is left out", "[tuner][log]") {
  CHECK_FALSE(parse_decision_log(log_text(), "d.jsonl")->torn);
  for (const char* rest : {"{\"number\":8,", "{\"number\":8,\n"}) {
    auto log = parse_decision_log(log_text() + rest, "d.jsonl");
    REQUIRE(log);
    CHECK(log->torn);
    CHECK(log->decisions.size() == 1);
  }
}

TEST_CASE("a reader reads a writer's decisions", "[tuner][log]") {
  const test::TempDir dir;
  const std::string path = dir.path("decisions.jsonl");
  {
    auto writer = DecisionLogWriter::create(path, header());
    REQUIRE(writer);
    REQUIRE(writer->add(decision()));
    REQUIRE(writer->add(decision()));
  }
  auto log = read_decision_log(path);
  REQUIRE(log);
  CHECK(log->decisions.size() == 2);
  auto none = read_decision_log(dir.path("none.jsonl"));
  REQUIRE_FALSE(none);
  CHECK(none.error().code == Code::kNotFound);
}

}  // namespace forebay::tuner
