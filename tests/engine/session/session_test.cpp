#include "engine/session/session.h"

#include <string>
#include <vector>

#include "core/runtime/synchronized.h"
#include "engine/run/watch/stream_watch.h"
#include "tests/engine/small_job.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// Recorded messages of a session.
class Said {
 public:
  std::function<void(const std::string&)> listener() {
    return [this](const std::string& line) { lock_([&] { lines_.push_back(line); }); };
  }
  bool has(const std::string& text) const {
    return lock_([&] {
      return std::ranges::any_of(
          lines_, [&](const std::string& line) { return line.find(text) != std::string::npos; });
    });
  }

 private:
  const Synchronized<> lock_{};
  std::vector<std::string> lines_;
};

std::unique_ptr<Session> started(const JobSpec& job, Session::Options options) {
  auto session = Session::open(job, std::move(options));
  REQUIRE(session);
  REQUIRE((*session)->open_run());
  REQUIRE((*session)->start(0, ~std::uint64_t{0}));
  return std::move(*session);
}

}  // namespace

TEST_CASE("a stop ends the stream, and the outcome counts the batches that were given out",
          "[session]") {
  const test::SmallJob job;
  StopSource stop;
  auto session = started(job.spec, {.command = "ingest", .events = {.stop = &stop}});
  MeteredSource& source = session->run().source();
  REQUIRE(*source.next() != nullptr);
  stop.ask(15);
  while (*source.next() != nullptr) continue;
  session->end_stream();
  session->end("");
  const RunOutcome outcome = session->outcome(source.position(), source.waited());
  CHECK(outcome.batches == source.position().batches);
  CHECK(outcome.rows == outcome.batches * 100);
  CHECK(outcome.stats.stages.size() == 5);
}

TEST_CASE("a stall is reported, and past run.stall_fail ends the stream with an error",
          "[session]") {
  const test::SmallJob job({"run.stall_after=100ms", "run.stall_fail=300ms"});
  Said said;
  Latch stalled;
  auto session = started(
      job.spec,
      {.command = "ingest",
       .events = {.say = said.listener(), .stalled = [&](const std::string&) { stalled.open(); }}});
  // No batch is taken, so everything waits for the trainer.
  stalled.wait();
  CHECK(said.has("no progress for"));
  auto& source = session->run().source();
  auto batch = source.next();
  while (batch && *batch != nullptr) batch = source.next();
  REQUIRE_FALSE(batch);
  CHECK(batch.error().code == Code::kTimeout);
  CHECK(batch.error().message.find("no progress for") != std::string::npos);
}

TEST_CASE("a run that has failed by a stall is reported once", "[session]") {
  const test::SmallJob job;
  auto session = started(job.spec, {.command = "ingest"});
  int failures = 0;
  RunSpec patience;
  patience.stall_after = patience.stall_fail = std::chrono::nanoseconds(0);
  const RunEvents events{.stalled = [&](const std::string&) { ++failures; }};
  StreamWatch stream(
      {.run = session->run(), .spec = patience, .events = events, .say = [](const std::string&) {
       }});
  while (failures == 0) stream.look();
  for (int i = 0; i < 100; ++i) stream.look();
  CHECK(failures == 1);
}

TEST_CASE("a session that is refused leaves the job's folder to the next", "[session]") {
  const test::SmallJob job;
  JobSpec wrong = job.spec;
  wrong.tuner.policy = "none such";
  CHECK_FALSE(Session::open(wrong, {.command = "ingest"}));
  const auto held = Session::open(job.spec, {.command = "ingest"});
  REQUIRE(held);
  auto second = Session::open(job.spec, {.command = "ingest"});
  REQUIRE_FALSE(second);
  CHECK(second.error().code == Code::kUnavailable);
}

}  // namespace forebay
