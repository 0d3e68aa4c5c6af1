#include <string>
#include <vector>

#include "engine/job/job_document.h"
#include "engine/job/job_file.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

const JobDefaults kOfAProgram{.cpus = 3, .memory_bytes = 1000};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("values as text are the same values when the text is read", "[job]") {
  const JobValues job{.values = {{"dataset.paths", Texts{"a b.tsv", "q\"uote\\\n\x01ü\t.tsv"}},
                                 {"order.batch_size", std::int64_t{8192}},
                                 {"order.drop_last", true},
                                 {"trainer.evaluate_share", 0.1},
                                 {"trainer.learning_rate", 1e-9},
                                 {"order.seed", std::int64_t{-1}}},
                      .transforms = {{{"op", std::string("bucketize")},
                                      {"columns", Texts{"I1"}},
                                      {"boundaries", std::vector<double>{1, 2.5, -1e300}}},
                                     {{"op", std::string("first_x")}, {"x", std::int64_t{3}}}}};
  const auto document = parse_toml(to_toml(job), "job");
  INFO(to_toml(job));
  INFO((document ? "" : document.error().message));
  REQUIRE(document);
  REQUIRE(document->values.size() == job.values.size());
  for (const auto& [name, value] : job.values) {
    INFO(name);
    CHECK(document->values.at(name).value == value);
  }
  REQUIRE(document->transforms.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    for (const auto& [name, value] : job.transforms[i]) {
      INFO(name);
      CHECK(document->transforms[i].values.at(name).value == value);
    }
  }
}

TEST_CASE("a job of values has the defaults, overrides and errors of a job file", "[job]") {
  JobValues job{.values = {{"dataset.paths", Texts{"a.tsv"}}}, .transforms = {}, .folder = "there"};
  const auto spec = read_values(job, {"order.batch_size=7"}, kOfAProgram);
  REQUIRE(spec);
  CHECK(spec->order.batch_size == 7);
  CHECK(spec->pipeline.cpus == 3);
  CHECK(spec->base_dir == "there");
  CHECK(spec->run.dir == "there/.forebay");
  CHECK(spec->source.text == to_toml(job));
  CHECK(spec->source.sets == Texts{"order.batch_size=7"});
  job.values["order.batchsize"] = std::int64_t{7};
  const auto unknown = read_values(job, {}, kOfAProgram);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message ==
        "the job's values: unknown key order.batchsize; did you mean order.batch_size?");
}

TEST_CASE("an empty table in a job of values is known, unknown or a key's, as in a file", "[job]") {
  const auto read = [](const std::string& table) {
    const JobValues job{.values = {{"dataset.paths", Texts{"a.tsv"}}, {table, true}},
                        .transforms = {}};
    return read_values(job, {}, kOfAProgram);
  };
  const auto known = read("trainer.tables.");
  REQUIRE(known);
  CHECK(parse_job(known->source.text, "job.toml", {}, kOfAProgram));
  CHECK(read("ordr.").error().message == "the job's values: unknown key ordr; did you mean order?");
  CHECK(read("order.seed.").error().message ==
        "the job's values: order.seed is a table, but must be a whole number from 0 "
        "to 9223372036854775807");
}

}  // namespace forebay
