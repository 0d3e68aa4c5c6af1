#include "engine/analyze/parts.h"

#include <numeric>

#include "tests/engine/analyze/analyzed_run.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::AnalyzedRun;
using test::seconds;

const Piece& piece(const std::vector<Piece>& pieces, const std::string& name) {
  const auto found = std::ranges::find(pieces, name, &Piece::name);
  REQUIRE(found != pieces.end());
  return *found;
}

std::vector<Piece> pieces_of(const AnalyzedRun& run, const RemoteWork& remote = {}) {
  return pieces_of(run.first, run.last, test::stages_of_a_job(), remote, 2);
}

double share(const std::vector<Piece>& pieces, Part part) {
  return shares_of(pieces)[static_cast<std::size_t>(part)];
}

TEST_CASE("waiting for a CPU is no part's time, waiting for a disk is fetch's",
          "[engine][analyze]") {
  AnalyzedRun run;
  run.stage(0, {.busy = 6, .cpu = 1, .ready = 3});  // 2 s of waiting for the disk
  run.stage(1, {.busy = 1, .cpu = 1});
  const auto pieces = pieces_of(run);
  CHECK(piece(pieces, "load").busy == Approx(3));
  CHECK(piece(pieces, "load").cpu == Approx(1));
  CHECK(share(pieces, Part::kFetch) == Approx(0.75));
  CHECK(share(pieces, Part::kDecode) == Approx(0.25));
}

TEST_CASE("a stage is divided by the CPU time of its operators", "[engine][analyze]") {
  AnalyzedRun run;
  run.stage(3, {.busy = 4, .cpu = 4});
  run.last.operators[0].cpu = run.last.operators[0].time = seconds(0.5);
  run.last.operators[1].cpu = run.last.operators[1].time = seconds(3);
  const auto pieces = pieces_of(run);
  CHECK(piece(pieces, "transform 1 (log1p)").busy == Approx(0.5));
  CHECK(piece(pieces, "transform 2 (spin)").busy == Approx(3));
  CHECK(piece(pieces, "transform").busy == Approx(0.5));  // what is left
  CHECK(share(pieces, Part::kTransform) == Approx(1));
}

TEST_CASE("an operator that waits gets its stage's waiting", "[engine][analyze]") {
  AnalyzedRun run;
  run.stage(3, {.busy = 10, .cpu = 2, .ready = 2});  // 6 s of waiting
  run.last.operators[0].cpu = run.last.operators[0].time = seconds(1);
  run.last.operators[1].cpu = seconds(0.5);
  run.last.operators[1].time = seconds(8.5);  // 2 s of it for a CPU
  const auto pieces = pieces_of(run);
  CHECK(piece(pieces, "transform 1 (log1p)").busy == Approx(1));
  CHECK(piece(pieces, "transform 2 (spin)").busy == Approx(6.5));
}

TEST_CASE(
    "the trainer's time is its steps without waits for a CPU, or its CPU time if that is more",
    "[engine][analyze]") {
  AnalyzedRun run;
  run.last.worked = seconds(4);
  run.last.waited = seconds(6);
  run.last.trainer_ready_seconds = 1;
  CHECK(piece(pieces_of(run), "trainer").busy == Approx(3));
  run.last.cpu_seconds = 5;  // two threads of a model
  CHECK(piece(pieces_of(run), "trainer").busy == Approx(5));
  run.last.cpu_seconds = 9;  // of which its steps cannot have used more than 2 CPUs
  CHECK(piece(pieces_of(run), "trainer").busy == Approx(6));
}

TEST_CASE("shuffle and batch count as hand-over, and the shares of all parts add up to 1",
          "[engine][analyze]") {
  AnalyzedRun run;
  for (std::size_t i = 0; i < 5; ++i) run.stage(i, {.busy = 1, .cpu = 1});
  run.last.worked = seconds(5);
  const auto pieces = pieces_of(run);
  CHECK(share(pieces, Part::kHandOver) == Approx(0.2));  // 2 of 10 s
  const auto shares = shares_of(pieces);
  CHECK(std::accumulate(shares.begin(), shares.end(), 0.0) == Approx(1));
  CHECK(shares_of({}) == std::array<double, kParts>{});
}

PastSplit remote_split(double arrived_after, double batched) {
  PastSplit split;
  split.node = "w1";
  split.times.stages = {{seconds(0), seconds(0.1)}, {seconds(0.1), seconds(0.4)}};
  split.times.sent = seconds(1);
  split.times.arrived = seconds(1 + arrived_after);
  split.batch = {seconds(batched), seconds(batched)};
  return split;
}

TEST_CASE("splits of workers bring their stages' time and the link's", "[engine][analyze]") {
  std::vector<PastSplit> history;
  for (int i = 0; i < 20; ++i) history.push_back(remote_split(0.5 + i, 5));  // most wait their turn
  history.push_back(remote_split(0.001, 11));                                // too late
  history.emplace_back();                                                    // made here
  const RemoteWork remote = remote_work(history, seconds(0), seconds(10));
  CHECK(remote.splits == 20);
  CHECK(remote.link_seconds == Approx(2.5));  // the third shortest of 20
  REQUIRE(remote.stage_seconds.size() == 2);
  CHECK(remote.stage_seconds[1] == Approx(0.3));
  const auto pieces = pieces_of(AnalyzedRun(), remote);
  CHECK(piece(pieces, "link").busy == Approx(50));
  CHECK(piece(pieces, "decode").busy == Approx(6));
}

TEST_CASE("a thread's run delay is the second number of its schedstat", "[engine][analyze]") {
  CHECK(run_delay_of("5000000000 2500000000 17\n") == Approx(2.5));
  CHECK(run_delay_of("") == 0);
}

TEST_CASE("two samples are an observation for the tuner's model", "[engine][analyze]") {
  AnalyzedRun run;
  run.stage(1, {.busy = 4, .cpu = 3, .ready = 1, .idle = 6});
  run.last.cpu_seconds = 5;
  run.last.worked = seconds(2);
  const auto seen = observation_of(run.first, run.last, {.cpus = 2});
  CHECK(seen.seconds == Approx(10));
  REQUIRE(seen.stages.size() == 4);
  CHECK(seen.stages[1].done == 100);
  CHECK(seen.stages[1].done_ready_seconds == Approx(1));
  CHECK(seen.other_cpu_seconds == Approx(2));
  CHECK(seen.trainer_steps == 50);
  CHECK(seen.splits_per_item == Approx(2));
  CHECK(seen.trainer_step_seconds == Approx(2));
}

}  // namespace
}  // namespace forebay
