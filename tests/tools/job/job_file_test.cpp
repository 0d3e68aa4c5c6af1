#include "tools/job/job_file.h"

#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace forebay {
namespace {

const JobDefaults kDefaults{.cpus = 3, .memory_bytes = 1000};

Result<JobSpec> read(const std::string& text, const std::vector<std::string>& sets = {}) {
  auto document = parse_toml(text, "job.toml");
  if (!document) return pass(document);
  for (const std::string& set : sets) {
    if (auto applied = apply_set(*document, set); !applied) return pass(applied);
  }
  return read_job(*document, "folder/job.toml", kDefaults);
}

std::string refusal(const std::string& text, const std::vector<std::string>& sets = {}) {
  auto job = read(text, sets);
  return job ? "accepted" : job.error().message;
}

const std::string kLeast = "[dataset]\npaths = [\"a.tsv\"]\n";

}  // namespace

TEST_CASE("a job that says least gets the defaults", "[tools][job]") {
  const auto job = read(kLeast);
  REQUIRE(job);
  CHECK(job->dataset.format == "criteo_tsv");
  CHECK(job->order.batch_size == 8192);
  CHECK(job->pipeline.cpus == 3);
  CHECK(job->pipeline.memory_bytes == 1000);
  CHECK(job->run.dir == "folder/.forebay");
  CHECK(job->trainer.checkpoint == "folder/checkpoints");
  CHECK(job->notes.empty());
}

TEST_CASE("every kind of value reaches its place", "[tools][job]") {
  const auto job = read(
      "[dataset]\nformat = \"csv\"\npaths = [\"a\", \"b*\"]\nmax_row_bytes = \"2KiB\"\n"
      "[dataset.csv]\ndelimiter = \"\\t\"\nheader = false\n"
      "[columns]\nlabel = \"y\"\nsparse = \"s*\"\n"
      "[order]\nshuffle = \"file\"\nmode = \"arrival\"\nseed = 9\n"
      "[pipeline.allocation]\ndecode = 4\n"
      "[trainer]\nbottom_mlp = [32, 16]\nstep = 0.5\ncheckpoint_every = \"2m\"\nlearning_rate = "
      "1\n");
  REQUIRE(job);
  CHECK(job->dataset.paths == std::vector<std::string>{"a", "b*"});
  CHECK(job->dataset.max_row_bytes == 2048);
  CHECK(job->dataset.csv.delimiter == '\t');
  CHECK_FALSE(job->dataset.csv.header);
  CHECK(job->columns.sparse == std::vector<std::string>{"s*"});
  CHECK(job->order.shuffle == OrderSpec::Shuffle::kFile);
  CHECK(job->order.mode == OrderSpec::Mode::kArrival);
  CHECK(job->order.seed == 9);
  CHECK(job->pipeline.allocation == Allocation{.decode = 4});
  CHECK(job->trainer.bottom_mlp == std::vector<int>{32, 16});
  CHECK(job->trainer.step == std::chrono::milliseconds(500));
  CHECK(job->trainer.checkpoint_every == std::chrono::minutes(2));
  CHECK(job->trainer.learning_rate == 1);
}

TEST_CASE("transforms keep their order and parameters, and find libraries beside the job",
          "[tools][job]") {
  const auto job =
      read(kLeast +
           "[[transform]]\nop = \"clamp\"\ncolumns = [\"I*\"]\nlow = 1\nhigh = 2.5\n"
           "[[transform]]\nop = \"udf\"\ncolumns = \"C1\"\nlibrary = \"libmine.so\"\n");
  REQUIRE(job);
  REQUIRE(job->transforms.size() == 2);
  CHECK(job->transforms[0].op == "clamp");
  CHECK(job->transforms[0].params.at("low") == ParamValue(std::int64_t{1}));
  CHECK(job->transforms[0].params.at("high") == ParamValue(2.5));
  CHECK(job->transforms[1].columns == std::vector<std::string>{"C1"});
  CHECK(job->transforms[1].params.at("library") == ParamValue(std::string("folder/libmine.so")));
}

TEST_CASE("an assignment by --set overrides the file, as TOML or as a bare string",
          "[tools][job]") {
  const auto job =
      read(kLeast + "[[transform]]\nop = \"sigrid_hash\"\ncolumns = [\"C*\"]\nmax_value = 3\n",
           {"order.seed=7", "order.shuffle=file", "pipeline.memory=400MiB", "order.seed=8",
            "dataset.csv.header=false", "transform.0.max_value=5", "dataset.paths=[\"x\", \"y\"]"});
  REQUIRE(job);
  CHECK(job->order.seed == 8);
  CHECK(job->order.shuffle == OrderSpec::Shuffle::kFile);
  CHECK(job->pipeline.memory_bytes == 400ULL << 20);
  CHECK_FALSE(job->dataset.csv.header);
  CHECK(job->transforms[0].params.at("max_value") == ParamValue(std::int64_t{5}));
  CHECK(job->dataset.paths == std::vector<std::string>{"x", "y"});
}

TEST_CASE("a wrong job file is refused with place, key and what is wanted", "[tools][job]") {
  const std::pair<std::string, std::string> cases[] = {
      {"[order]\nbatch_size = 0\n",
       "job.toml, line 4: order.batch_size is 0, but must be a whole number from 1 to 16777216"},
      {"[order]\nbatch_size = \"big\"\n",
       "job.toml, line 4: order.batch_size is \"big\", but must be a whole number from 1 to "
       "16777216"},
      {"[order]\nseed = -1\n",
       "job.toml, line 4: order.seed is -1, but must be a whole number of at least 0"},
      {"[order]\nepochs = 0\n",
       "job.toml, line 4: order.epochs is 0, but must be a whole number from 1 to 1000000000"},
      {"[order]\nepochs = 1.5\n",
       "job.toml, line 4: order.epochs is 1.5, but must be a whole number from 1 to 1000000000"},
      {"[order]\nbatchsize = 5\n",
       "job.toml, line 4: unknown key order.batchsize; did you mean order.batch_size?"},
      {"[ordr]\nseed = 5\n", "job.toml, line 3: unknown key ordr; did you mean order?"},
      {"[pipeline]\ncpus = 0\n",
       "job.toml, line 4: pipeline.cpus is 0, but must be a whole number from 1 to 4096"},
      {"[pipeline]\nmemory = \"abc\"\n",
       "job.toml, line 4: pipeline.memory is \"abc\", but must be a size such as 512MiB, from 1 "
       "MiB to "
       "1 EiB"},
      {"[order]\nmode = \"fast\"\n",
       "job.toml, line 4: order.mode is \"fast\", but must be exact | arrival"},
      {"[order]\nshuffle = 1\n",
       "job.toml, line 4: order.shuffle is 1, but must be true, false or \"file\""},
      {"[trainer]\nlearning_rate = nan\n",
       "job.toml, line 4: trainer.learning_rate is nan, but must be a number from 1e-09 to 1000"},
      {"[trainer.model]\nx = 1\n",
       "job.toml, line 3: trainer.model is a table, but must be dlrm | emulated | none"},
      {"[order]\nseed = 2024-01-01\n",
       "job.toml, line 4: order.seed must be true or false, a number, a string, or a list of "
       "numbers "
       "or of strings"},
      {"[transform]\nop = \"log1p\"\n",
       "job.toml, line 3: transforms are a list; write [[transform]]"},
      {"[[transform]]\ncolumns = [\"I*\"]\n",
       "job.toml, line 3: transform 0 has no op; see forebay inspect --ops"},
      {"[trainer]\nevaluate = [\"x\"]\nevaluate_share = 0.1\n",
       "folder/job.toml: trainer.evaluate and trainer.evaluate_share exclude each other; remove "
       "one"},
  };
  for (const auto& [text, message] : cases) CHECK(refusal(kLeast + text) == message);
}

TEST_CASE("a job that names no files, or a csv without columns, is refused", "[tools][job]") {
  CHECK(refusal("") ==
        "folder/job.toml: dataset.paths is missing; name the files to read, as in paths = "
        "[\"data/*.tsv\"]");
  CHECK(refusal(kLeast + "format = \"csv\"\n").find("columns.label is missing") !=
        std::string::npos);
}

TEST_CASE("bad TOML is refused with line and column", "[tools][job]") {
  const std::string message = refusal("[dataset]\npaths = [\n");
  CHECK(message.starts_with("job.toml, line "));
  CHECK(message.find("not valid TOML") != std::string::npos);
  CHECK(message.find('\n') == std::string::npos);
}

TEST_CASE("a --set without a key, a value or a transform is refused", "[tools][job]") {
  CHECK(refusal(kLeast, {"order.seed"}) ==
        "--set order.seed: must be KEY=VALUE, as in --set order.seed=7");
  CHECK(refusal(kLeast, {"order.sede=1"}) ==
        "--set order.sede=1: unknown key order.sede; did you mean order.seed?");
  CHECK(refusal(kLeast, {"transform.0.salt=1"}).find("the job has 0 transforms") !=
        std::string::npos);
  CHECK(refusal(kLeast, {"order=1"}) == "--set order=1: order is a table; write [order]");
}

TEST_CASE("keys whose part is not built yet are accepted and named once", "[tools][job]") {
  const auto job = read(kLeast + "[tuner]\npolicy = \"intune\"\n[cluster]\nlocal = true\n");
  REQUIRE(job);
  CHECK(job->notes ==
        std::vector<std::string>{"without effect in this version: cluster.local, tuner.policy"});
}

TEST_CASE("an allocation of more actors than pipeline.max_actors is refused", "[tools][job]") {
  const auto job = read(kLeast + "[pipeline]\nmax_actors = 7\n[pipeline.allocation]\ndecode = 5\n");
  REQUIRE_FALSE(job);  // 5 and one each of the three other stages.
  CHECK_THAT(job.error().message,
             Catch::Contains("8 actors in all") && Catch::Contains("allows 7"));
  CHECK(read(kLeast + "[pipeline]\nmax_actors = 8\n[pipeline.allocation]\ndecode = 5\n"));
}

TEST_CASE("of the two stall limits, the one given moves the other's default", "[tools][job]") {
  const auto soon = read(kLeast + "[run]\nstall_fail = \"3s\"\n");
  REQUIRE(soon);
  CHECK(soon->run.stall_after == std::chrono::seconds(3));
  const auto late = read(kLeast + "[run]\nstall_after = \"1h\"\n");
  REQUIRE(late);
  CHECK(late->run.stall_fail == std::chrono::hours(1));
  CHECK_FALSE(read(kLeast + "[run]\nstall_after = \"9s\"\nstall_fail = \"3s\"\n"));
}

TEST_CASE("a user's library lies beside the job file, not among the system's", "[tools][job]") {
  const auto job = read(kLeast + "[[transform]]\nop = \"udf\"\nlibrary = \"libmine.so\"\n");
  REQUIRE(job);
  const auto library = std::get<std::string>(job->transforms.front().params.at("library"));
  CHECK(library.find('/') != std::string::npos);
}

}  // namespace forebay
