#include <sched.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <numeric>
#include <optional>
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
  CHECK(job_key_in("pipeline.allocation.em-bed: no such stage") == "pipeline.allocation.em-bed");
  CHECK(job_key_in("job.toml, line 9: transform.2.stage must be") == "transform.2.stage");
  CHECK(job_key_in("job.toml, line 9: transform.2 has no op") == "");
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
