#include "engine/job/job_file.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/job/job_key.h"
#include "engine/job/job_keys.h"

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

/// With these lines below [trainer], the first of which is line 4.
std::string trainer_refusal(const std::string& lines) {
  return refusal(kLeast + "[trainer]\n" + lines + "\n");
}

}  // namespace

TEST_CASE("a minimal job gets the defaults", "[tools][job]") {
  const auto job = read(kLeast);
  REQUIRE(job);
  CHECK(job->dataset.format == "criteo_tsv");
  CHECK_FALSE(job->columns.label_threshold);
  CHECK(job->order.batch_size == 8192);
  CHECK(job->pipeline.cpus == 3);
  CHECK(job->pipeline.memory_bytes == 1000);
  CHECK(job->run.dir == "folder/.forebay");
  CHECK(job->trainer.checkpoint == "folder/checkpoints");
}

TEST_CASE("every kind of value reaches its member", "[tools][job]") {
  const auto job = read(
      "[dataset]\nformat = \"csv\"\npaths = [\"a\", \"b*\"]\nmax_row_bytes = \"2KiB\"\n"
      "[dataset.csv]\ndelimiter = \"\\t\"\nheader = false\n"
      "[columns]\nlabel = \"y\"\nsparse = \"s*\"\nlabel_threshold = 4\nweight = \"w\"\n"
      "extra = [\"t\", \"u*\"]\n"
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
  CHECK(job->columns.label_threshold == 4.0);
  CHECK(job->columns.weight == "w");
  CHECK(job->columns.extra == std::vector<std::string>{"t", "u*"});
  CHECK(job->order.shuffle == OrderSpec::Shuffle::kFile);
  CHECK(job->order.mode == OrderSpec::Mode::kArrival);
  CHECK(job->order.seed == 9);
  CHECK(job->pipeline.actors == std::vector<std::uint32_t>{1, 4, 1, 1});
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
            "dataset.csv.header=false", "transform.0.max_value = 5", " order.batch_size =64",
            "tuner.mode = advise", "dataset.paths=[\"x\", \"y\"]"});
  REQUIRE(job);
  CHECK(job->order.seed == 8);
  CHECK(job->order.batch_size == 64);
  CHECK(job->tuner.mode == "advise");
  CHECK(job->order.shuffle == OrderSpec::Shuffle::kFile);
  CHECK(job->pipeline.memory_bytes == 400ULL << 20);
  CHECK_FALSE(job->dataset.csv.header);
  CHECK(job->transforms[0].params.at("max_value") == ParamValue(std::int64_t{5}));
  CHECK(job->dataset.paths == std::vector<std::string>{"x", "y"});
}

TEST_CASE("the stages to fuse are all, none or a list of groups", "[tools][job]") {
  const auto fuse = [](const std::string& value) {
    const auto job = read(kLeast + "[pipeline]\n" + value);
    REQUIRE(job);
    return job->pipeline.fuse;
  };
  CHECK(fuse("").how == FuseSpec::How::kAuto);
  CHECK(fuse("fuse = \"auto\"").how == FuseSpec::How::kAuto);
  CHECK(fuse("fuse = false").how == FuseSpec::How::kNever);
  CHECK(fuse("fuse = []").how == FuseSpec::How::kListed);
  const FuseSpec listed = fuse("fuse = [[\"load\", \"decode\"], [\"shuffle\"]]");
  CHECK(listed.how == FuseSpec::How::kListed);
  CHECK(listed.groups == std::vector<std::vector<std::string>>{{"load", "decode"}, {"shuffle"}});
  for (const char* wrong : {"fuse = true", "fuse = 1", "fuse = \"all\"", "fuse = [\"load\"]"}) {
    CHECK_THAT(refusal(kLeast + "[pipeline]\n" + wrong),
               Catch::Contains("pipeline.fuse") && Catch::Contains("but must be \"auto\", false"));
  }
}

TEST_CASE("the actors of a listed group count once against the most", "[tools][job]") {
  const std::string most = kLeast + "[pipeline]\nmax_actors = 5\n";
  const std::string many = "[pipeline.allocation]\nload = 3\ndecode = 3\n";
  CHECK_THAT(refusal(most + many), Catch::Contains("has 8 actors in all"));
  CHECK(read(most + "fuse = [[\"load\", \"decode\"]]\n" + many));
}

TEST_CASE("a wrong job file is refused with place, key and expected value", "[tools][job]") {
  const std::pair<std::string, std::string> cases[] = {
      {"[order]\nbatch_size = 0\n",
       "job.toml, line 4: order.batch_size is 0, but must be a whole number from 1 to 16777216"},
      {"[order]\nbatch_size = \"big\"\n",
       "job.toml, line 4: order.batch_size is \"big\", but must be a whole number from 1 to "
       "16777216"},
      {"[order]\nseed = -1\n",
       "job.toml, line 4: order.seed is -1, but must be a whole number from 0 to "
       "9223372036854775807"},
      {"[order]\nepochs = 0\n",
       "job.toml, line 4: order.epochs is 0, but must be a whole number from 1 to 1000000000"},
      {"[order]\nepochs = 1.5\n",
       "job.toml, line 4: order.epochs is 1.5, but must be a whole number from 1 to 1000000000"},
      {"[order]\nbatchsize = 5\n",
       "job.toml, line 4: unknown key order.batchsize; did you mean order.batch_size?"},
      {"[run]\ndir = \"a\\u0000b\"\n", "job.toml, line 4: run.dir holds a zero byte; remove it"},
      {"[trainer]\nevaluate = [\"a\", \"b\\u0000\"]\n",
       "job.toml, line 4: trainer.evaluate holds a zero byte; remove it"},
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
      {"[columns]\nlabel_threshold = inf\n",
       "job.toml, line 4: columns.label_threshold is inf, but must be a number"},
      {"[columns]\nlabel_threshold = \"4\"\n",
       "job.toml, line 4: columns.label_threshold is \"4\", but must be a number"},
      {"[trainer.model]\nx = 1\n",
       "job.toml, line 3: trainer.model is a table, but must be dlrm | dcn_v2 | wide_deep | deepfm "
       "| emulated | none"},
      {"[order]\nseed = 2024-01-01\n",
       "job.toml, line 4: order.seed must be true or false, a number, a string, or a list of "
       "numbers, of strings or of lists of strings"},
      {"[transform]\nop = \"log1p\"\n",
       "job.toml, line 3: transforms are a list; write [[transform]]"},
      {"[[transform]]\ncolumns = [\"I*\"]\n",
       "job.toml, line 3: [[transform]] number 1 has no op; see forebay inspect --ops"},
      {"[[transform]]\nop = 1\n", "job.toml, line 4: [[transform]] number 1: op must be a string"},
      {"[[transform]]\nop = \"log1p\"\ncolumns = 1\n",
       "job.toml, line 5: [[transform]] number 1: columns must be a list of strings"},
      {"[trainer]\nevaluate = [\"x\"]\nevaluate_share = 0.1\n",
       "folder/job.toml: trainer.evaluate and trainer.evaluate_share exclude each other; remove "
       "one"},
  };
  for (const auto& [text, message] : cases) CHECK(refusal(kLeast + text) == message);
}

TEST_CASE("every wrong value of the trainer's keys is refused with the allowed values",
          "[tools][job]") {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"model = \"gpt\"", "model = 3", "model = [\"dlrm\"]"},
       "dlrm | dcn_v2 | wide_deep | deepfm | emulated | none"},
      {{"step = \"soon\"", "step = -1", "step = \"61m\""},
       "a time such as 250ms or 5s, from 0 ms to"},
      {{"device = 1"}, "a string"},
      {{"threads = 0", "threads = 1025", "threads = 1.5"}, "a whole number from 1 to 1024"},
      {{"deterministic = 1", "deterministic = \"yes\""}, "true or false"},
      {{"seed = -1", "seed = \"a\""}, "a whole number from 0 to 9223372036854775807"},
      {{"optimizer = \"lamb\"", "optimizer = true"}, "sgd | adagrad | adam"},
      {{"learning_rate = 0", "learning_rate = -1", "learning_rate = inf", "learning_rate = \"x\""},
       "a number from 1e-09 to 1000"},
      {{"warmup_steps = -1", "warmup_steps = 1.5", "warmup_steps = \"5s\""},
       "a whole number from 0 to 1099511627776"},
      {{"decay_start = -1", "decay_start = \"end\""}, "a whole number from 0 to 1099511627776"},
      {{"decay_steps = -1", "decay_steps = 2199023255552"},
       "a whole number from 0 to 1099511627776"},
      {{"clip_norm = -0.5", "clip_norm = nan", "clip_norm = \"1\""},
       "a number from 0 to 1000000000"},
      {{"embedding_dim = 0", "embedding_dim = 4097"}, "a whole number from 1 to 4096"},
      {{"bottom_mlp = [64, 0]", "bottom_mlp = 64", "bottom_mlp = [1.5]", "bottom_mlp = []"},
       "a list of whole numbers from 1 to 16384, at least one"},
      {{"top_mlp = [-1]", "top_mlp = [\"a\"]", "top_mlp = []"},
       "a list of whole numbers from 1 to 16384, at least one"},
      {{"cross_layers = 0", "cross_layers = 65"}, "a whole number from 1 to 64"},
      {{"cross_rank = 0", "cross_rank = 16385"}, "a whole number from 1 to 16384"},
      {{"max_table_rows = 0"}, "a whole number from 1 to 2147483648"},
      {{"table_optimizer = \"adam\"", "table_optimizer = 0"}, "sgd | adagrad | rowwise_adagrad"},
      {{"pooling = \"max\"", "pooling = false"}, "sum | mean"},
      {{"precision = \"fp16\"", "precision = 16"}, "fp32 | bf16"},
      {{"tables.storage = \"disk\"", "tables.storage = 1"}, "memory | hashed | tiered"},
      {{"tables.memory = \"much\"", "tables.memory = 0", "tables.memory = \"1KiB\""},
       "a size such as 512MiB, from 1 MiB to 1 PiB"},
      {{"tables.admit_after = 0", "tables.admit_after = 256", "tables.admit_after = \"2\""},
       "a whole number from 1 to 255"},
      {{"tables.evict_after = -1", "tables.evict_after = 0.5"},
       "a whole number from 0 to 1099511627776"},
      {{"tables.device_memory = 0", "tables.device_memory = \"all\""},
       "a size such as 512MiB, from 1 MiB to 1 PiB"},
      {{"tables.placement = \"rows\""}, "auto | table | row | replicated"},
      {{"evaluate = 3"}, "a list of strings"},
      {{"evaluate_share = 1", "evaluate_share = -0.1", "evaluate_share = \"a tenth\""},
       "a number from 0 to 0.99"},
      {{"evaluate_every = -1", "evaluate_every = \"5m\""}, "a whole number from 0 to 1e+15"},
      {{"evaluate_auc = \"rough\""}, "auto | exact | streaming"},
      {{"early_stopping = -1", "early_stopping = true"}, "a whole number from 0 to 1000000000"},
      {{"early_stopping_metric = \"ne\""}, "log_loss | auc"},
      {{"tensorboard = true"}, "a string"},
      {{"csv = 1"}, "a string"},
      {{"log_every = 0"}, "a whole number from 1 to 1e+15"},
      {{"checkpoint = 1"}, "a string"},
      {{"checkpoint_every = \"often\"", "checkpoint_every = -1"},
       "a time such as 250ms or 5s, from 0 ms to"},
      {{"checkpoint_steps = -1", "checkpoint_steps = \"5m\""},
       "a whole number from 0 to 1099511627776"},
      {{"keep = 0", "keep = 1000001", "keep = \"all\""}, "a whole number from 1 to 1000000"},
      {{"rank_timeout = 0", "rank_timeout = \"never\""},
       "a time such as 250ms or 5s, from 1.0 s to"},
  };
  std::set<std::string> seen;
  for (const auto& [settings, wanted] : cases) {
    for (const std::string& setting : settings) {
      const std::string key = "trainer." + setting.substr(0, setting.find(' '));
      INFO(setting);
      const std::string message = trainer_refusal(setting);
      CHECK(message.starts_with("job.toml, line 4: " + key + " is "));
      CHECK_THAT(message, Catch::Contains("but must be " + wanted));
      seen.insert(key);
    }
  }
  for (const std::string& key : job_key_names()) {
    if (key.starts_with("trainer.")) CHECK(seen.contains(key));
  }
}

TEST_CASE("keys of the trainer that go together are refused where one is missing", "[tools][job]") {
  CHECK_THAT(
      trainer_refusal("evaluate_every = 5\n"),
      Catch::Contains("trainer.evaluate_every") && Catch::Contains("set trainer.evaluate_share"));
  CHECK_THAT(
      trainer_refusal("early_stopping = 2\nevaluate_share = 0.1\n"),
      Catch::Contains("trainer.early_stopping") && Catch::Contains("set trainer.evaluate_every"));
  CHECK(trainer_refusal("early_stopping = 2\nevaluate_share = 0.1\nevaluate_every = 5\n") ==
        "accepted");
}

TEST_CASE("a misspelt key of the trainer's tables names the nearest", "[tools][job]") {
  for (const auto& [key, nearest] : {std::pair{"tables.admit", "trainer.tables.admit_after"},
                                     std::pair{"tables.storge", "trainer.tables.storage"},
                                     std::pair{"warmup", "trainer.warmup_steps"},
                                     std::pair{"checkpoint_step", "trainer.checkpoint_steps"}}) {
    const std::string message = trainer_refusal(std::string(key) + " = 1");
    CHECK(message == "job.toml, line 4: unknown key trainer." + std::string(key) +
                         "; did you mean " + nearest + "?");
  }
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
  CHECK(refusal(kLeast, {"fooo.bar=1"}) ==
        "--set fooo.bar=1: unknown key fooo.bar; the nearest known key is order");
  CHECK(refusal(kLeast, {"transform.0.salt=1"}).find("the job has 0 transforms") !=
        std::string::npos);
  CHECK(refusal(kLeast, {"order=1"}) == "--set order=1: order is a table; write [order]");
}

TEST_CASE("the cluster's keys are read, and a job without any worker is refused", "[tools][job]") {
  const auto job = read(kLeast +
                        "[cluster]\nlisten = \"tcp://127.0.0.1:0\"\nlocal = false\n"
                        "min_workers = 2\nlease = \"2s\"\nplacement = \"near\"\n");
  REQUIRE(job);
  CHECK(job->cluster.used());
  CHECK(job->cluster.min_workers == 2);
  CHECK(job->cluster.lease == std::chrono::seconds(2));
  CHECK(job->cluster.placement == "near");
  CHECK(refusal(kLeast + "[cluster]\nlocal = false\n").find("no worker can join") !=
        std::string::npos);
}

TEST_CASE("the keys of stores are read, and no secret is taken for one", "[tools][job]") {
  const auto job = read(kLeast +
                        "[storage]\nendpoint = \"http://e\"\nregion = \"r\"\nconnections = 7\n"
                        "credentials = \"profile:p\"\ntimeout = \"1s\"\ngive_up_after = \"3s\"\n"
                        "request_price = 0.001\nbyte_price = 0.02\n");
  REQUIRE(job);
  CHECK(job->storage.endpoint == "http://e");
  CHECK(job->storage.region == "r");
  CHECK(job->storage.connections == 7);
  CHECK(job->storage.credentials == "profile:p");
  CHECK(job->storage.timeout == std::chrono::seconds(1));
  CHECK(job->storage.give_up_after == std::chrono::seconds(3));
  CHECK(job->storage.request_price == 0.001);
  CHECK(job->storage.byte_price == 0.02);
  for (const char* word : {"AKIDEXAMPLE", "profile:", ""}) {
    const std::string why =
        refusal(kLeast + "[storage]\ncredentials = \"" + std::string(word) + "\"\n");
    CHECK(why.find("\"env\", \"profile:NAME\" or \"anonymous\"") != std::string::npos);
  }
}

TEST_CASE("an allocation names the job's stages", "[tools][job]") {
  const std::string operators =
      "[[transform]]\nop = \"log1p\"\n[[transform]]\nop = \"udf\"\nstage = \"em-bed\"\n";
  const auto job = read(kLeast + operators + "[pipeline.allocation]\nem-bed = 3\nload = 2\n");
  REQUIRE(job);
  CHECK(names_of(job->stages) == "load, decode, shuffle, transform, em-bed");
  CHECK(job->pipeline.actors == std::vector<std::uint32_t>{2, 1, 1, 1, 3});
  CHECK(job->pipeline.total_actors() == 8);
  CHECK_FALSE(job->transforms[1].params.contains("stage"));
  const auto refusal = [&](const std::string& keys) {
    const auto refused = read(kLeast + operators + keys);
    REQUIRE_FALSE(refused);
    return refused.error().message;
  };
  CHECK_THAT(refusal("[pipeline.allocation]\nem-bad = 3\n"),
             Catch::EndsWith("unknown key pipeline.allocation.em-bad: this job has no such stage; "
                             "did you mean em-bed? (stages: load, decode, shuffle, transform, "
                             "em-bed)"));
  CHECK_THAT(refusal("[pipeline.allocation]\nem-bed = 0\n"),
             Catch::Contains("pipeline.allocation.em-bed is 0, but must be a whole number from 1"));
  CHECK_THAT(refusal("[[transform]]\nop = \"log1p\"\nstage = 3\n"),
             Catch::Contains("[[transform]] number 3: stage must be a stage's name"));
  CHECK_THAT(
      refusal("[[transform]]\nop = \"log1p\"\nstage = \"load\"\n"),
      Catch::Contains("[[transform]] number 3: stage \"load\" is the name of another stage"));
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

TEST_CASE("a value is shown as it is written in TOML, whatever its type", "[tools][job]") {
  const auto shown = [](ParamValue value) { return show_value(value); };
  CHECK(shown(std::vector<std::int64_t>{-3, 4}) == "[-3, 4]");
  CHECK(shown(std::vector<std::int64_t>{}) == "[]");
  CHECK(shown(std::vector<double>{0.5}) == "[0.5]");
  CHECK(shown(std::vector<std::string>{"a", "b"}) == "[\"a\", \"b\"]");
  CHECK(shown(std::vector<std::vector<std::string>>{{"a"}}) == "a list of lists");
  CHECK(shown(1.0) == "1.0");
  CHECK(shown(std::int64_t{1}) == "1");
  CHECK(shown(1e30) == "1e+30");
}

}  // namespace forebay
