#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <forebay/loader.h>

#include "core/base/sanitizers.h"
#include "engine/loader/loader_error.h"
#include "engine/process/memory_use.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr int kRows = 3000;
constexpr bool kSanitized = FOREBAY_ADDRESS_SANITIZER != 0 || FOREBAY_THREAD_SANITIZER != 0;

/// A job over some rows of Criteo, whose label is 1 in every third.
class Files {
 public:
  explicit Files(int rows = kRows, const std::string& more = "") {
    std::string text;
    for (int row = 0; row < rows; ++row) {
      text += row % 3 == 0 ? "1" : "0";
      for (int column = 0; column < 39; ++column) text += '\t' + std::to_string(row % 97);
      text += '\n';
    }
    dir_.write("day_0.tsv", text + more);
    job = dir_.write("job.toml",
                     "[dataset]\npaths = [\"*.tsv\"]\n[order]\nbatch_size = 100\nepochs = 2\n"
                     "[pipeline]\nmemory = \"128MiB\"\ncpus = 2\n"
                     "[[transform]]\nop = \"log1p\"\ncolumns = [\"I*\"]\n");
  }
  std::string folder() const { return std::filesystem::path(job).parent_path().string(); }

  std::string job;

 private:
  test::TempDir dir_;
};

Loader opened(const std::string& job, Loader::Options options = {}) {
  auto loader = Loader::open(job, std::move(options));
  INFO((loader ? "" : loader.error().message));
  REQUIRE(loader);
  return std::move(*loader);
}

/// Reads at most so many batches; returns the order digest after them.
std::string pull(Loader& loader, int batches = 1 << 30) {
  while (batches-- > 0) {
    auto batch = loader.next();
    INFO((batch ? "" : batch.error().message));
    REQUIRE(batch);
    if (!*batch) break;
  }
  return loader.position().order_digest;
}

LoaderError failed(const std::string& job, Loader::Options options = {}) {
  auto loader = Loader::open(job, std::move(options));
  REQUIRE_FALSE(loader);
  return loader.error();
}

int cpus_here() {
  cpu_set_t set;
  REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
  return CPU_COUNT(&set);
}

/// Threads of this process that are kept on one CPU.
int threads_on_one_cpu() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    cpu_set_t set;
    const int thread = std::stoi(entry.path().filename().string());
    if (::sched_getaffinity(thread, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1) ++count;
  }
  return count;
}

std::size_t entries(const char* folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    static_cast<void>(entry);
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("a loader gives every batch of a job once, as views of its memory", "[loader]") {
  const Files files;
  Loader loader = opened(files.job);
  CHECK(loader.schema().dense.size() == 13);
  CHECK(loader.schema().sparse.front() == "C1");
  std::uint64_t rows = 0;
  double positive = 0;
  for (std::uint64_t number = 0;; ++number) {
    auto batch = loader.next();
    REQUIRE(batch);
    if (!*batch) break;
    const LoaderBatch& held = **batch;
    REQUIRE(held.index() == number);
    REQUIRE(held.labels().size() == held.rows());
    REQUIRE(held.dense().size() == held.rows() * 13);
    REQUIRE(held.lengths().size() == held.rows() * 26);
    REQUIRE(held.values().size() == held.rows() * 26);
    const auto last = held.sparse(25);
    REQUIRE(last.lengths.size() == held.rows());
    REQUIRE(last.values.data() == held.values().data() + held.rows() * 25);
    rows += held.rows();
    positive = std::accumulate(held.labels().begin(), held.labels().end(), positive);
  }
  CHECK(rows == 2 * kRows);
  CHECK(positive == 2.0 * kRows / 3);
  CHECK_FALSE((*loader.next()).has_value());
  CHECK(loader.position().epochs == 2);
  CHECK(loader.position().rows == rows);
  const LoaderStats stats = loader.stats();
  CHECK(stats.rows == rows);
  CHECK(stats.batches == 60);
  REQUIRE(stats.stages.size() == 5);
  CHECK(stats.stages[3].name == "transform");
  CHECK(stats.stages[3].splits > 0);
  CHECK(stats.memory_limit == 128 * kMiB);
}

TEST_CASE("a loader gives weights and extra columns as views", "[loader]") {
  const Files files;
  {
    Loader plain = opened(files.job);
    CHECK_FALSE(plain.schema().weight);
    auto batch = plain.next();
    REQUIRE(batch);
    CHECK((*batch)->weights().empty());
  }
  Loader loader =
      opened(files.job, {.set = {"columns.dense=[\"I3\"]", "columns.sparse=[\"C1\"]",
                                 "columns.weight=I1", "columns.extra=[\"I2\",\"C9\"]"}});
  CHECK(loader.schema().weight);
  REQUIRE(loader.schema().extra.size() == 2);
  CHECK(loader.schema().extra[1].name == "C9");
  CHECK_FALSE(loader.schema().extra[1].is_float);
  auto batch = loader.next();
  REQUIRE(batch);
  REQUIRE(*batch);
  const LoaderBatch& held = **batch;
  REQUIRE(held.weights().size() == 100);
  REQUIRE(held.extra(1).size() == 100);
  CHECK(held.extra_floats(0).size() == 100);
  bool same = true;
  for (std::size_t row = 0; row < 100; ++row) {
    // All 39 fields of a row have the same digits, those of tokens in hexadecimal.
    const std::int64_t number = held.extra(0)[row];
    same = same && held.weights()[row] == static_cast<float>(number);
    same = same && held.extra(1)[row] == std::stoll(std::to_string(number), nullptr, 16);
  }
  CHECK(same);
}

TEST_CASE("a job of values is the same as that of a file", "[loader]") {
  const Files files;
  Loader from_file = opened(files.job);
  auto from_values = Loader::open(
      {.values = {{"dataset.paths", std::vector<std::string>{"*.tsv"}},
                  {"order.batch_size", std::int64_t{100}},
                  {"order.epochs", std::int64_t{2}},
                  {"run.dir", std::string("other")}},
       .transforms = {{{"op", std::string("log1p")}, {"columns", std::vector<std::string>{"I*"}}}},
       .folder = files.folder()},
      {});
  REQUIRE(from_values);
  CHECK(pull(from_file) == pull(*from_values));
}

TEST_CASE("overrides are those of the command line", "[loader]") {
  const Files files;
  Loader loader = opened(files.job, {.set = {"order.batch_size=7", "order.epochs=1"}});
  auto batch = loader.next();
  REQUIRE(batch);
  CHECK((**batch).rows() == 7);
}

TEST_CASE("a state goes on where the loader that wrote it was", "[loader]") {
  const Files files;
  std::string whole;
  {
    Loader loader = opened(files.job);
    whole = pull(loader);
  }
  std::string state;
  {
    Loader loader = opened(files.job, {.max_batches = 23});
    pull(loader);
    CHECK(loader.position().batches == 23);
    state = loader.state();
    CHECK(state.size() < 1024);
  }
  Loader loader = opened(files.job, {.resume = state});
  CHECK(loader.state() == state);
  CHECK(pull(loader) == whole);
}

TEST_CASE("a state beyond splits with rows sampled away goes on, too", "[loader]") {
  const Files files;
  const std::string job = files.folder() + "/sampled.toml";
  std::ofstream(job) << "[dataset]\npaths = [\"day_0.tsv\"]\n[order]\nbatch_size = 10\nepochs = 2\n"
                        "[[transform]]\nop = \"sampling\"\nrate = 0.5\n";
  Loader whole = opened(job);
  const std::string digest = pull(whole);
  const std::uint64_t batches = whole.position().batches;
  for (std::uint64_t at = 20; at < batches; at += 67) {
    Loader first = opened(job, {.max_batches = at, .share_run_dir = true});
    pull(first);
    Loader rest = opened(job, {.resume = first.state(), .share_run_dir = true});
    CHECK(pull(rest) == digest);
  }
}

TEST_CASE("loaders of several ranks give slices of the batches of one", "[loader]") {
  const Files files(kRows, "1\tno number\n");
  const std::vector<std::string> set = {"dataset.bad_rows=5"};
  Loader one = opened(files.job, {.set = set});
  std::vector<Loader> ranks;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    ranks.push_back(
        opened(files.job, {.set = set, .rank = rank, .ranks = 3, .share_run_dir = true}));
    CHECK(ranks.back().epoch().exact);
    CHECK(ranks.back().epoch().batches == 30);
  }
  while (true) {
    auto whole = one.next();
    REQUIRE(whole);
    std::vector<float> labels;
    bool have = false;
    for (Loader& rank : ranks) {
      auto slice = rank.next();
      INFO((slice ? "" : slice.error().message));
      REQUIRE(slice);
      have = slice->has_value();
      if (!have) continue;
      CHECK((**slice).index() == (**whole).index());
      labels.insert(labels.end(), (**slice).labels().begin(), (**slice).labels().end());
    }
    REQUIRE(have == whole->has_value());
    if (!have) break;
    CHECK(std::ranges::equal(labels, (**whole).labels()));
  }
  CHECK(ranks.front().state() == ranks.back().state());
  CHECK(ranks.front().position().of_ranks);
  CHECK(ranks.front().state().find("digest") == std::string::npos);
}

TEST_CASE("ranks that cannot be are refused before the start", "[loader]") {
  const Files files;
  CHECK(failed(files.job, {.rank = 2, .ranks = 2}).message.find("rank 2 of 2") == 0);
  const LoaderError arrival = failed(files.job, {.set = {"order.mode=arrival"}, .ranks = 2});
  CHECK(arrival.code == LoaderError::Code::kConfig);
  CHECK(arrival.key == "order.mode");
}

TEST_CASE("two loaders run in one process at once, each in its own order", "[loader]") {
  const Files files;
  Loader::Options other{.set = {"run.dir=other", "order.seed=9"}};
  std::string alone;
  std::string other_alone;
  {
    Loader loader = opened(files.job);
    alone = pull(loader);
  }
  {
    Loader loader = opened(files.job, other);
    other_alone = pull(loader);
  }
  CHECK(alone != other_alone);
  Loader one = opened(files.job);
  Loader two = opened(files.job, other);
  for (int i = 0; i < 60; ++i) {
    pull(one, 1);
    pull(two, 1);
  }
  CHECK(pull(one) == alone);
  CHECK(pull(two) == other_alone);
}

TEST_CASE("many loaders run in one process at once", "[loader]") {
  const Files files(300);
  std::vector<Loader> loaders;
  for (int i = 0; i < 40; ++i) {
    loaders.push_back(opened(files.job, {.set = {"pipeline.memory=32MiB"}, .share_run_dir = true}));
    pull(loaders.back(), 1);
  }
  pull(loaders.front());
  for (Loader& loader : loaders) CHECK(pull(loader) == loaders.front().position().order_digest);
}

TEST_CASE("a loader that is stopped from another thread ends, and the one beside it goes on",
          "[loader]") {
  const Files files;
  Loader endless = opened(files.job, {.set = {"order.epochs=1000000"}});
  Loader other = opened(files.job, {.set = {"run.dir=other"}});
  std::atomic<bool> begun{false};
  std::thread reader([&] {
    while ((*endless.next()).has_value()) begun = true;
  });
  while (!begun) std::this_thread::yield();
  endless.stop();
  reader.join();
  CHECK_FALSE((*endless.next()).has_value());
  pull(other);
  CHECK(other.position().rows == 2 * kRows);
}

TEST_CASE("a held batch outlives its loader", "[loader]") {
  const Files files;
  std::optional<LoaderBatch> held;
  std::vector<std::int64_t> before;
  {
    Loader loader = opened(files.job);
    auto batch = loader.next();
    REQUIRE(batch);
    held = **batch;
    before.assign(held->values().begin(), held->values().end());
    pull(loader, 5);
  }
  CHECK(std::vector<std::int64_t>(held->values().begin(), held->values().end()) == before);
}

TEST_CASE(
    "held batches that fill the limit are reported, and the stream goes on when they are released",
    "[loader]") {
  const Files files;
  const Loader::Options options{.set = {"order.batch_size=3000", "order.epochs=200",
                                        "pipeline.memory=64MiB", "pipeline.prefetch=24MiB"}};
  std::string whole;
  {
    Loader loader = opened(files.job, options);
    whole = pull(loader);
  }
  Loader loader = opened(files.job, options);
  std::vector<LoaderBatch> held;
  while (true) {
    auto batch = loader.next();
    if (!batch) {
      CHECK(batch.error().code == LoaderError::Code::kConfig);
      CHECK(batch.error().key == "pipeline.memory");
      CHECK(batch.error().message.find("holds " + std::to_string(held.size()) + " batches") !=
            std::string::npos);
      break;
    }
    REQUIRE(*batch);
    held.push_back(**batch);
    REQUIRE(loader.stats().memory_bytes <= 64 * kMiB);
  }
  CHECK(held.size() > 10);
  held.clear();
  CHECK(pull(loader) == whole);
}

TEST_CASE("by epoch, each epoch ends the stream once, whatever order.epochs says", "[loader]") {
  const Files files;
  std::string whole;
  {
    Loader loader = opened(files.job);  // two epochs
    whole = pull(loader);
  }
  Loader loader = opened(files.job, {.set = {"order.epochs=1"}, .by_epoch = true});
  CHECK(loader.epoch().batches == 30);
  CHECK(loader.epoch().exact);
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    pull(loader);
    CHECK(loader.position().batches == 30 * (epoch + 1));
    CHECK(loader.position().epochs == epoch + 1);
  }
  CHECK(loader.position().order_digest == whole);
  pull(loader, 30);  // the last batch, but not the end behind it
  loader.begin_epoch();
  pull(loader, 7);
  CHECK(loader.position().batches == 97);
  loader.begin_epoch();  // within an epoch it changes nothing
  pull(loader);
  CHECK(loader.position().batches == 120);
}

TEST_CASE("by epoch, the end of a pass is the end of its epoch, also behind rows that are left out",
          "[loader]") {
  // 3000 rows are 7 batches of 400 and 200 that are dropped.
  const Files files;
  const std::vector<std::string> keys = {"order.batch_size=400", "order.drop_last=true"};
  Loader loader = opened(files.job, {.set = keys, .by_epoch = true});
  CHECK(loader.epoch().batches == 7);
  pull(loader, 7);
  const std::string at_last = loader.state();
  CHECK(loader.position().epochs == 0);  // Nobody knows yet that no batch follows.
  pull(loader);
  const std::string at_end = loader.state();
  CHECK(loader.position().epochs == 1);
  CHECK(loader.position().batches == 7);
  CHECK(loader.stats().batches == 7);
  CHECK(loader.stats().rows == 2800);
  CHECK(loader.epoch().exact);
  pull(loader);
  CHECK(loader.position().epochs == 2);
  CHECK(loader.position().batches == 14);
  // Both states go on with the next epoch, not with an empty rest of the one before.
  for (const std::string& state : {at_last, at_end}) {
    Loader other =
        opened(files.job, {.set = keys, .resume = state, .by_epoch = true, .share_run_dir = true});
    pull(other);
    CHECK(other.position().order_digest == loader.position().order_digest);
    CHECK(other.position().epochs == 2);
  }
}

TEST_CASE("by epoch, an epoch without a batch ends at once", "[loader]") {
  const Files files;
  Loader loader = opened(
      files.job, {.set = {"order.batch_size=4000", "order.drop_last=true"}, .by_epoch = true});
  CHECK(loader.epoch().batches == 0);
  CHECK(loader.wait(std::chrono::nanoseconds(0)));
  CHECK_FALSE((*loader.next()).has_value());
}

TEST_CASE("by epoch, rows that are held out and leave no batch end the stream with their key",
          "[loader]") {
  const Files files;
  Loader loader = opened(files.job, {.set = {"order.batch_size=3000", "order.drop_last=true",
                                             "trainer.evaluate_share=0.05"},
                                     .by_epoch = true});
  for (int times = 0; times < 2; ++times) {
    const auto batch = loader.next();
    REQUIRE_FALSE(batch);
    CHECK(batch.error().code == LoaderError::Code::kData);
    CHECK(batch.error().key == "order.drop_last");
  }
}

TEST_CASE("by epoch, a sampling that leaves no row ends the stream", "[loader]") {
  const Files files;
  Loader loader =
      opened(files.job,
             {.transforms = {{{"op", std::string("sampling")}, {"rate", 1e-9}}}, .by_epoch = true});
  const auto batch = loader.next();
  REQUIRE_FALSE(batch);
  CHECK(batch.error().message.find("no row remains of an epoch: 0 are damaged") !=
        std::string::npos);
}

TEST_CASE("the batches of an epoch are a bound until the rows left out are counted", "[loader]") {
  const Files files(kRows, "1\tno number\n");
  Loader loader = opened(files.job, {.set = {"dataset.bad_rows=5"}, .by_epoch = true});
  CHECK(loader.epoch().batches == 31);
  CHECK_FALSE(loader.epoch().exact);
  pull(loader);
  CHECK(loader.epoch().batches == 30);
  CHECK(loader.epoch().exact);
}

TEST_CASE("a loader that has not begun takes a state, and stays where it is if it refuses one",
          "[loader]") {
  const Files files;
  Loader loader = opened(files.job);
  const std::string start = loader.state();
  pull(loader, 23);
  const std::string state = loader.state();
  CHECK(loader.resume(start).error().message.find("has begun") != std::string::npos);
  Loader other = opened(files.job, {.share_run_dir = true});
  CHECK(other.resume("{}").error().code == LoaderError::Code::kConfig);
  CHECK(other.state() == start);
  CHECK(other.resume(state));
  CHECK(other.state() == state);
  CHECK(pull(other) == pull(loader));
}

TEST_CASE("loaders that share a job's folder use one index and quarantine apart", "[loader]") {
  const Files files;
  Loader one = opened(files.job, {.share_run_dir = true});
  Loader two = opened(files.job, {.share_run_dir = true});
  Loader three = opened(files.job, {.share_run_dir = true});
  CHECK(pull(one) == pull(two));
  CHECK(pull(two) == pull(three));
  const std::filesystem::path folder = files.folder() + "/.forebay";
  CHECK(std::filesystem::exists(folder / "index"));
  CHECK(std::filesystem::exists(folder / "beside/2/lock"));
  CHECK_FALSE(std::filesystem::exists(folder / "beside/1/index"));
  // What is wrong with the job is said once.
  CHECK(failed(files.job, {.set = {"order.batch_size=0"}, .share_run_dir = true}).key ==
        "order.batch_size");
}

TEST_CASE("a request to stop ends a stream of epochs", "[loader]") {
  const Files files;
  std::stop_source stop;
  Loader loader = opened(files.job, {.by_epoch = true, .stop = stop.get_token()});
  pull(loader, 1);
  stop.request_stop();
  const auto gives = [&] { return (*loader.next()).has_value(); };
  while (gives() || gives()) continue;  // Only an ended stream gives nothing twice.
  CHECK_FALSE(gives());
  CHECK(loader.wait(std::chrono::nanoseconds(0)));
}

TEST_CASE("a loader whose first batch is not made yet says so while it waits", "[loader]") {
  const Files files;
  auto made = Loader::open(
      {.values = {{"dataset.paths", std::vector<std::string>{"*.tsv"}},
                  {"order.batch_size", std::int64_t{100}}},
       .transforms = {{{"op", std::string("spin")}, {"microseconds", std::int64_t{3000}}}},
       .folder = files.folder()},
      {});
  REQUIRE(made);
  Loader& loader = *made;
  CHECK_FALSE(loader.wait(std::chrono::nanoseconds(0)));  // 100 rows of 3 ms
  while (!loader.wait(std::chrono::milliseconds(10))) continue;
  CHECK((*loader.next())->index() == 0);
  CHECK(loader.stats().starved_ratio > 0);
}

TEST_CASE("errors are values with a key and a message", "[loader]") {
  const Files files;
  const LoaderError unknown = failed(files.job, {.set = {"order.batchsize=7"}});
  CHECK(unknown.code == LoaderError::Code::kConfig);
  CHECK(unknown.message.find("order.batch_size") != std::string::npos);
  const LoaderError wrong = failed(files.job, {.set = {"order.batch_size=0"}});
  CHECK(wrong.code == LoaderError::Code::kConfig);
  CHECK(wrong.key == "order.batch_size");
  CHECK(failed(files.folder() + "/none.toml").code == LoaderError::Code::kConfig);
  CHECK(failed(files.job, {.set = {"dataset.paths=none.tsv"}}).key == "dataset.paths");
  CHECK(failed(files.job, {.set = {"pipeline.memory=1MiB"}}).key == "pipeline.memory");
  CHECK(failed(files.job, {.resume = "{}"}).code == LoaderError::Code::kConfig);
  const Loader holder = opened(files.job);
  const LoaderError taken = failed(files.job);
  CHECK(taken.code == LoaderError::Code::kUnavailable);
  CHECK(taken.message.find("is in use by process") != std::string::npos);
}

TEST_CASE("a damaged row ends the stream with its file and row, again at each call", "[loader]") {
  const Files files(50, "1\tno number\n");
  Loader loader = opened(files.job);
  LoaderError error;
  for (int i = 0; i < 2; ++i) {
    auto batch = loader.next();
    while (batch && *batch) batch = loader.next();
    REQUIRE_FALSE(batch);
    error = batch.error();
    CHECK(error.code == LoaderError::Code::kData);
    CHECK(error.message.find("day_0.tsv") != std::string::npos);
  }
}

TEST_CASE("the first key of the job file in a message is found", "[loader]") {
  CHECK(job_key_in("job.toml, line 3: order.batch_size is 0, but must be") == "order.batch_size");
  CHECK(job_key_in("pipeline.memory: 1 MiB is not enough") == "pipeline.memory");
  CHECK(job_key_in("day_0.tsv, row 3: no number") == "");
  CHECK(job_key_in("see order.epochs.") == "order.epochs");
  CHECK(job_key_in("j.toml, line 6: unknown key order.sed; did you mean order.seed?") ==
        "order.sed");
  CHECK(job_key_in("--set junk: must be KEY=VALUE, as in --set order.seed=7") == "");
  CHECK(job_key_in("pipeline.allocation.em-bed: no such stage") == "pipeline.allocation.em-bed");
  CHECK(job_key_in("job.toml, line 9: [[transform]] number 3: stage must be") ==
        "transform.2.stage");
  CHECK(job_key_in("job.toml, line 9: [[transform]] number 3 has no op") == "");
  CHECK(job_key_in("[[transform]] number 1 (udf): f: a.tsv, row at byte 9: no") == "");
}

TEST_CASE("a loader leaves the process as it was: signals, affinity, memory beside its own",
          "[loader]") {
  const std::vector<char> of_the_program(300 * kMiB, 'x');
  const int cpus = cpus_here();
  struct sigaction before = {};
  REQUIRE(::sigaction(SIGTERM, nullptr, &before) == 0);
  const Files files;
  Loader loader = opened(files.job, {.set = {"pipeline.cpus=1"}});
  pull(loader, 3);
  CHECK(cpus_here() == cpus);
  int cpus_of_new_thread = 0;
  std::thread([&] { cpus_of_new_thread = cpus_here(); }).join();
  CHECK(cpus_of_new_thread == cpus);
  if (cpus > 1) {
    const int kept = threads_on_one_cpu();
    CHECK(kept >= 5);  // at least an actor a stage
    CHECK(loader.set("pipeline.cpus", "2"));
    CHECK(threads_on_one_cpu() == 0);
    CHECK(cpus_here() == cpus);
  }
  struct sigaction after = {};
  REQUIRE(::sigaction(SIGTERM, nullptr, &after) == 0);
  CHECK(after.sa_handler == before.sa_handler);
  CHECK(loader.stats().memory_bytes < 128 * kMiB);
  pull(loader);
  CHECK(loader.position().rows == 2 * kRows);
}

TEST_CASE("a running loader is changed as forebay set changes a job", "[loader]") {
  const Files files;
  Loader loader = opened(files.job, {.set = {"order.epochs=1000000"}});
  CHECK(loader.set("pipeline.cpus", "1").error().code == LoaderError::Code::kConfig);
  pull(loader, 1);
  CHECK(*loader.set("pipeline.cpus", "1") == "pipeline.cpus = 1");
  CHECK(*loader.set("tuner.mode", "off") == "tuner.mode = off");
  CHECK(loader.set("pipeline.memory", "64MiB"));
  CHECK(loader.stats().memory_limit == 64 * kMiB);
  CHECK(loader.set("pipeline.memory", "1MiB").error().key == "pipeline.memory");
  CHECK(loader.set("order.seed", "1").error().code == LoaderError::Code::kConfig);
  pull(loader, 100);
}

TEST_CASE("a loader that is opened and closed many times leaves nothing behind", "[loader]") {
  const int times = kSanitized ? 60 : 1000;
  const Files files(200);
  const auto once = [&] {
    Loader loader = opened(files.job);
    pull(loader, 1);
  };
  for (int i = 0; i < times / 10; ++i) once();
  const std::uint64_t resident = resident_bytes();
  const std::size_t descriptors = entries("/proc/self/fd");
  const std::size_t threads = entries("/proc/self/task");
  for (int i = 0; i < times; ++i) once();
  CHECK(entries("/proc/self/fd") == descriptors);
  CHECK(entries("/proc/self/task") == threads);
  if (!kSanitized) CHECK(resident_bytes() < resident + 16 * kMiB);
}

}  // namespace forebay
