#include "engine/job/job_spec.h"

#include "tests/support/catch.h"

using namespace forebay;

TEST_CASE("a model's device memory is reported before the model is made", "[tools][job]") {
  JobSpec job;
  job.order.batch_size = 64;
  job.trainer.embedding_dim = 8;
  job.trainer.max_table_rows = 500;
  const Schema schema{.dense = {"a"}, .sparse = {{"b"}, {"c"}}};
  const MostIds ids = MostIds::one_each(64, 2);
  CHECK(describe_device(job, schema, ids).empty());
  job.trainer.device = "cuda:1";
  const std::string words = describe_device(job, schema, ids);
  CHECK(words.starts_with("the model takes up to "));
  CHECK(words.find(" on cuda:1, with 1000 rows of its tables, and ") != std::string::npos);
  job.trainer.model = TrainerSpec::ModelKind::kNone;
  CHECK(describe_device(job, schema, ids).empty());
}
