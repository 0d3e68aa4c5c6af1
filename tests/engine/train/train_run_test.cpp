#include "engine/train/train_run.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/process/run_dir.h"
#include "tests/engine/small_job.h"

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("a trainer that crashes ends the run as failed, with the reason, and is not restarted",
          "[train]") {
  const test::SmallJob job({"trainer.model=none"});
  int views = 0;
  RunEvents events;
  events.view = [&](const ViewedRun&) -> std::unique_ptr<RunView> {
    ++views;
    throw std::runtime_error("no screen is left");
  };
  TrainRun run(
      job.spec,
      {.begin = Checkpointing::Begin::kFresh, .ranks = {}, .events = events, .index_of = {}});
  const TrainEnd end = run.run();
  CHECK(views == 1);
  CHECK(end.how == TrainEnd::How::kFailed);
  CHECK_THAT(end.error.message, Catch::Contains("no screen is left"));
  CHECK(RunDir::hold(job.spec.run.dir));  // Another run may use the job's folder.
}

TEST_CASE("a model that cannot be is refused before a page or a listener opens", "[train]") {
  const test::SmallJob job({"trainer.embedding_dim=4", "trainer.bottom_mlp=[8]",
                            "run.dashboard=127.0.0.1:0", "cluster.listen=tcp://127.0.0.1:0"});
  std::vector<std::string> said;
  RunEvents events;
  events.say = [&](const std::string& line) { said.push_back(line); };
  TrainRun run(
      job.spec,
      {.begin = Checkpointing::Begin::kFresh, .ranks = {}, .events = events, .index_of = {}});
  const TrainEnd end = run.run();
  CHECK(end.how == TrainEnd::How::kRefused);
  CHECK_THAT(end.error.message, Catch::Contains("trainer.bottom_mlp ends in 8"));
  CHECK(said == std::vector<std::string>());
}

}  // namespace forebay
