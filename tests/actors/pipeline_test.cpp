#include "actors/pipeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <map>
#include <mutex>
#include <set>

#include "actors/quarantine.h"
#include "core/base/random.h"
#include "tests/actors/stage/growing_counters.h"
#include "tests/support/columns.h"
#include "tests/support/temp_dir.h"
#include "tests/support/threads.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// Criteo rows whose I1 is their number, which identifies each row after the pipeline.
std::string criteo_rows(int first, int count, const std::set<int>& damaged) {
  std::string text;
  Random random(static_cast<std::uint64_t>(first));
  for (int i = first; i < first + count; ++i) {
    text += i % 5 == 0 ? "1" : "0";
    text += '\t' + (damaged.contains(i) ? std::string("x") : std::to_string(i));
    for (int column = 2; column <= 13; ++column) {
      text += '\t';
      if (random.below(4) != 0) text += std::to_string(random.below(1000));
    }
    constexpr std::array<char, 17> kDigits{"0123456789abcdef"};
    for (int column = 0; column < 26; ++column) {
      text += '\t';
      if (random.below(4) == 0) continue;
      for (int digit = 0; digit < 8; ++digit) text += kDigits.at(random.below(16));
    }
    text += '\n';
  }
  return text;
}

struct Run {
  std::vector<std::string> rows;
  std::vector<std::size_t> batch_rows;
  Position end;
};

/// A dataset whose index counts a row more or less in its first block than the file has.
class Recounted final : public Dataset {
 public:
  Recounted(std::unique_ptr<Dataset> dataset, int more)
      : dataset_(std::move(dataset)), more_(more) {}
  const Format& format() const override { return dataset_->format(); }
  const std::vector<DatasetFile>& files() const override { return dataset_->files(); }
  std::size_t num_blocks() const override { return dataset_->num_blocks(); }
  BlockRef block(std::size_t i) const override {
    BlockRef block = dataset_->block(i);
    if (i == 0) block.rows = static_cast<std::uint32_t>(static_cast<int>(block.rows) + more_);
    return block;
  }
  std::uint64_t rows() const override { return dataset_->rows(); }
  std::uint64_t bytes() const override { return dataset_->bytes(); }
  Digest fingerprint() const override { return dataset_->fingerprint(); }
  Result<std::unique_ptr<BlockSource>> open(std::uint32_t file) const override {
    return dataset_->open(file);
  }

 private:
  const std::unique_ptr<Dataset> dataset_;
  const int more_;
};

/// A dataset of three files with 2300 rows, and pipelines over it.
class Job {
 public:
  explicit Job(const std::set<int>& damaged = {},
               const std::vector<TransformSpec>& transforms = {{"log1p", {"I2"}, {}}}) {
    dir_.write("day_0.tsv", criteo_rows(0, 1000, damaged));
    dir_.write("day_1.tsv", criteo_rows(1000, 1, damaged));
    dir_.write("day_2.tsv", criteo_rows(1001, 1299, damaged));
    DatasetSpec spec;
    spec.paths = {"*.tsv"};
    DatasetOptions options;
    options.base_dir = dir_.path();
    options.run_dir = dir_.path("run");
    auto opened = open_dataset(spec, {}, options);
    REQUIRE(opened);
    dataset_ = std::move(*opened);
    auto plan = TransformPlan::compile(transforms, dataset_->format().schema());
    REQUIRE(plan);
    plan_ = std::make_unique<TransformPlan>(std::move(*plan));
    order.batch_size = 100;
    order.epochs = 2;
  }

  std::unique_ptr<Pipeline> start(const std::vector<std::uint32_t>& actors,
                                  std::uint64_t memory = 1 << 28, const Position& start = {}) {
    PipelineSpec spec;
    spec.memory_bytes = memory;
    spec.actors = actors;
    const Sizing sizing(*dataset_, *plan_, order);
    auto planned = plan_memory(spec, sizing, 0);
    REQUIRE(planned);
    return std::make_unique<Pipeline>(
        Pipeline::Options{.dataset = *dataset_,
                          .plan = *plan_,
                          .order = order,
                          .actors = actors,
                          .memory = *planned,
                          .decode = {.filter = filter, .keep_origins = false},
                          .start = start,
                          .buffers = buffers_,
                          .clock = clock_,
                          .on_damaged = on_damaged,
                          .on_batch = on_batch,
                          .groups = groups});
  }

  /// Pulls at most `batches`.
  static Run pull(Pipeline& pipeline, std::size_t batches = ~std::size_t{0}) {
    Run run;
    while (run.batch_rows.size() < batches) {
      auto batch = pipeline.next();
      REQUIRE(batch);
      if (*batch == nullptr) {
        run.end = pipeline.end_position();
        break;
      }
      const auto rows = test::rows_of(**batch);
      run.rows.insert(run.rows.end(), rows.begin(), rows.end());
      run.batch_rows.push_back((*batch)->rows);
      run.end = (*batch)->after;
    }
    return run;
  }

  const Dataset& dataset() const { return *dataset_; }
  void recount(int more) { dataset_ = std::make_unique<Recounted>(std::move(dataset_), more); }
  std::string path(const std::string& name) const { return dir_.path(name); }

  OrderSpec order;
  StageGroups groups;
  RowFilter filter;
  std::function<Status(const std::vector<BadRow>&)> on_damaged = [](const std::vector<BadRow>&) {
    return Status{};
  };
  std::function<void(const std::shared_ptr<const Batch>&)> on_batch;

 private:
  test::TempDir dir_;
  MemoryBudget budget_{1 << 28};
  BufferPool buffers_{budget_};
  SystemClock clock_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<TransformPlan> plan_;
};

TEST_CASE("a run remembers when each split was in which stage", "[actors][pipeline]") {
  Job job;
  const auto pipeline = job.start({2, 2, 1, 2});
  const auto before = SystemClock().now();
  Job::pull(*pipeline);
  const auto history = pipeline->history();
  std::set<std::uint64_t> numbers;
  std::uint64_t rows = 0;
  for (const PastSplit& split : history) {
    CHECK(numbers.insert(split.number).second);
    CHECK(split.node.empty());
    rows += split.rows;
    auto last = SplitTimes::Time(0);
    for (const auto& stage : split.times.stages) {
      CHECK(stage.begin > last);
      CHECK(stage.end > stage.begin);
      last = stage.end;
    }
    CHECK(split.batch.begin > last);
    CHECK(split.batch.end > split.batch.begin);
    CHECK(split.batch.end > before);
  }
  CHECK(numbers.size() == 2 * pipeline->splits_per_epoch());
  CHECK(rows == 4600);
}

TEST_CASE("the batches are the same for every grouping of the stages", "[actors][pipeline]") {
  Job job;
  const Run apart = Job::pull(*job.start({1, 1, 1, 1}));
  for (const std::vector<bool>& joined : std::vector<std::vector<bool>>{
           {true, true, true}, {true, false, true}, {false, true, false}, {false, true, true}}) {
    job.groups = StageGroups(joined);
    const auto pipeline = job.start({3, 3, 3, 3});
    const Run fused = Job::pull(*pipeline);
    CHECK(fused.rows == apart.rows);
    CHECK(fused.end.digest == apart.end.digest);
    for (const StageStats& stage : pipeline->stats().stages) {
      CHECK(stage.pool.totals.messages >= 2 * pipeline->splits_per_epoch());
      CHECK(stage.pool.totals.busy.count() > 0);
    }
  }
}

TEST_CASE("the actors of a group are resized together, and counted once", "[actors][pipeline]") {
  Job job;
  job.groups = StageGroups({true, true, false});
  const auto pipeline = job.start({2, 2, 2, 1});
  StagePools& stages = pipeline->stages();
  CHECK(stages.actors_wanted() == 3);
  REQUIRE(stages.resize(0, 5));
  CHECK(stages.actors() == std::vector<std::uint32_t>{5, 5, 5, 1});
  CHECK(stages.actors_wanted() == 6);
  CHECK(stages.threads() == 6);
  CHECK(pipeline->stats().fused ==
        std::vector<std::vector<std::string>>{{"load", "decode", "shuffle"}});
  CHECK(Job::pull(*pipeline).rows.size() == 4600);
}

TEST_CASE("only the last splits are remembered", "[actors][pipeline]") {
  SplitHistory history;
  for (std::uint64_t number = 0; number < SplitHistory::kMost + 3; ++number) {
    history.add({.number = number, .node = "", .rows = 0, .times = {}, .batch = {}});
  }
  const auto all = history.all();
  CHECK(all.size() == SplitHistory::kMost);
  CHECK(all.front().number == 3);
  CHECK(all.back().number == SplitHistory::kMost + 2);
}

TEST_CASE("the batches are the same for every allocation and memory limit", "[actors][pipeline]") {
  Job job;
  const Run usual = Job::pull(*job.start({1, 1, 1, 1}));
  CHECK(usual.rows.size() == 4600);
  CHECK(usual.batch_rows.size() == 46);
  CHECK(usual.end.epoch == 2);
  for (const std::vector<std::uint32_t>& actors :
       {std::vector<std::uint32_t>{4, 3, 2, 5}, {1, 6, 1, 1}, {8, 1, 1, 2}}) {
    for (const std::uint64_t memory : {std::uint64_t{1} << 28, std::uint64_t{30} << 20}) {
      const Run run = Job::pull(*job.start(actors, memory));
      CHECK(run.end.digest == usual.end.digest);
      CHECK(run.rows == usual.rows);
    }
  }
}

TEST_CASE("every row comes once an epoch, in another order each time", "[actors][pipeline]") {
  Job job;
  const Run run = Job::pull(*job.start({2, 2, 2, 2}));
  std::map<std::string, int> seen;
  for (const std::string& row : run.rows) ++seen[row];
  CHECK(seen.size() == 2300);
  CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& entry) { return entry.second == 2; }));
  CHECK_FALSE(std::equal(run.rows.begin(), run.rows.begin() + 2300, run.rows.begin() + 2300));
}

/// Three operators, of which the last changes what the second one made of missing values.
std::vector<TransformSpec> operators(const std::vector<std::string>& stages) {
  return {{"log1p", {"I*"}, {}, stages[0]},
          {"fill", {"I3"}, {{"value", 2.5}}, stages[1]},
          {"sigrid_hash", {"C*"}, {{"max_value", std::int64_t{1000}}}, stages[2]}};
}

TEST_CASE("the batches are the same however the operators are cut into stages",
          "[actors][pipeline]") {
  Job whole({}, operators({"", "", ""}));
  const Run usual = Job::pull(*whole.start({1, 1, 1, 1}));
  Job cut({}, operators({"a", "b", "c"}));
  const auto pipeline = cut.start({1, 2, 1, 2, 1, 3});
  const Run run = Job::pull(*pipeline);
  CHECK(run.end.digest == usual.end.digest);
  CHECK(run.rows == usual.rows);
  std::vector<std::string> names;
  for (const StageStats& stage : pipeline->stats().stages) {
    names.push_back(stage.name);
    CHECK(stage.pool.totals.messages == 2 * pipeline->splits_per_epoch());
  }
  CHECK(names == std::vector<std::string>{"load", "decode", "shuffle", "a", "b", "c", "batch"});
  CHECK(pipeline->stats().actors_wanted == std::vector<std::uint32_t>{1, 2, 1, 2, 1, 3});
  for (const PastSplit& split : pipeline->history()) CHECK(split.times.stages.size() == 6);
}

/// Pulls all batches, and calls `change` after each of them.
template <class Change>
Run pull_while(Pipeline& pipeline, const Change& change) {
  Run run;
  while (true) {
    const Run more = Job::pull(pipeline, 1);
    run.rows.insert(run.rows.end(), more.rows.begin(), more.rows.end());
    run.end = more.end;
    if (more.batch_rows.empty()) return run;
    change();
  }
}

TEST_CASE("pools that grow and shrink while they run change nothing", "[actors][pipeline]") {
  Job job;
  job.order.epochs = 6;
  const Run usual = Job::pull(*job.start({1, 1, 1, 1}));
  const auto pipeline = job.start({1, 1, 1, 1});
  Random random(7);
  const Run run = pull_while(*pipeline, [&] {
    REQUIRE(pipeline->stages().resize(random.below(4),
                                      1 + static_cast<std::uint32_t>(random.below(5))));
    pipeline->set_prefetch(1 + random.below(1 << 20));
  });
  CHECK(run.rows == usual.rows);
  CHECK(run.end.digest == usual.end.digest);
}

TEST_CASE("cuts between stages that move while splits are made change nothing",
          "[actors][pipeline]") {
  Job job;
  job.order.epochs = 6;
  const Run usual = Job::pull(*job.start({1, 1, 1, 1}));
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    job.groups = StageGroups({true, true, true});
    const auto pipeline = job.start({2, 2, 2, 2});
    StagePools& stages = pipeline->stages();
    Random random(seed);
    const Run run = pull_while(*pipeline, [&] {
      REQUIRE(stages.resize(1 + random.below(3), static_cast<std::uint32_t>(random.below(3))));
      REQUIRE(stages.resize(0, 1 + static_cast<std::uint32_t>(random.below(3))));
    });
    CHECK(run.rows == usual.rows);
    CHECK(run.end.digest == usual.end.digest);
    for (const StageStats& stage : pipeline->stats().stages) {
      INFO(stage.name);
      CHECK(stage.pool.totals.messages == 6 * pipeline->splits_per_epoch());
      CHECK(stage.pool.totals.busy.count() >= 0);
    }
  }
}

TEST_CASE("no counter of a stage falls while cuts move", "[actors][pipeline]") {
  Job job;
  job.order.epochs = 6;
  job.groups = StageGroups({true, true, true});
  const auto pipeline = job.start({2, 2, 2, 2});
  Random random(3);
  std::vector<StageStats> before = pipeline->stages().stats();
  pull_while(*pipeline, [&] {
    if (random.below(4) == 0) {
      const auto actors = static_cast<std::uint32_t>(random.below(3));
      REQUIRE(pipeline->stages().resize(1 + random.below(3), actors));
    }
    const std::vector<StageStats> now = pipeline->stages().stats();
    test::require_growing(before, now);
    before = now;
  });
}

TEST_CASE("a stage joins the group before it, and begins one of its own", "[actors][pipeline]") {
  using Counts = std::vector<std::uint32_t>;
  Job job;
  const auto pipeline = job.start({3, 2, 2, 1});
  StagePools& stages = pipeline->stages();
  REQUIRE(stages.resize(2, 0));
  CHECK(stages.actors() == Counts{3, 2, 2, 1});
  CHECK(stages.actors_wanted() == 6);
  REQUIRE(stages.resize(1, 0));
  CHECK(stages.actors() == Counts{3, 3, 3, 1});
  CHECK(stages.groups().end(0) == 3);
  REQUIRE(stages.resize(2, 4));
  CHECK(stages.actors() == Counts{3, 3, 4, 1});
  CHECK(pipeline->stats().fused == std::vector<std::vector<std::string>>{{"load", "decode"}});
  CHECK(stages.resize(0, 0).error().code == Code::kInvalid);
  CHECK(Job::pull(*pipeline).rows.size() == 4600);
}

TEST_CASE("a running pipeline obeys a changed memory limit and gives the same batches",
          "[actors][pipeline]") {
  Job job;
  job.order.epochs = 6;
  const Run usual = Job::pull(*job.start({1, 1, 1, 1}));
  const auto pipeline = job.start({1, 1, 1, 1});
  Random random(7);
  const Run run = pull_while(*pipeline, [&] {
    pipeline->set_room(random.below(2) == 0 ? 0 : random.below(1 << 26));
    REQUIRE(pipeline->stages().resize(random.below(4), 1));
  });
  CHECK(run.end.digest == usual.end.digest);

  const auto narrow = job.start({3, 3, 3, 3});
  const std::size_t wide = narrow->stats().window_capacity;
  narrow->set_room(0);
  const PipelineStats least = narrow->stats();
  CHECK(least.window_capacity < wide);
  const auto refused = narrow->stages().resize(0, 4);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kOverloaded);
  narrow->set_room(1 << 28);
  REQUIRE(narrow->stages().resize(0, 4));
}

TEST_CASE("each pool counts the bytes that it received", "[actors][pipeline]") {
  Job job;
  const auto pipeline = job.start({1, 1, 1, 1});
  Job::pull(*pipeline);
  const PipelineStats stats = pipeline->stats();
  for (std::size_t pool = 1; pool < stats.stages.size(); ++pool) {
    INFO(stats.stages[pool].name);
    CHECK(stats.stages[pool].pool.totals.bytes > 2 * 2300 * sizeof(float));
  }
}

TEST_CASE("a resumed run ends with the digest of one that was not stopped", "[actors][pipeline]") {
  Job job;
  const Run whole = Job::pull(*job.start({1, 1, 1, 1}));
  Position position;
  std::vector<std::string> rows;
  std::size_t pulled = 1;
  while (position.epoch < job.order.epochs) {
    const std::vector<std::uint32_t> actors{static_cast<std::uint32_t>(pulled % 3) + 1,
                                            static_cast<std::uint32_t>(pulled % 4) + 1, 1, 2};
    const Run part = Job::pull(*job.start(actors, 1 << 28, position), pulled++ % 7 + 1);
    rows.insert(rows.end(), part.rows.begin(), part.rows.end());
    position = part.end;
  }
  CHECK(rows == whole.rows);
  CHECK(position == whole.end);
}

TEST_CASE("a finished run that is resumed gives no batch and keeps its position",
          "[actors][pipeline]") {
  Job job;
  const Run whole = Job::pull(*job.start({1, 1, 1, 1}));
  const Run again = Job::pull(*job.start({1, 1, 1, 1}, 1 << 28, whole.end));
  CHECK(again.rows.empty());
  CHECK(again.end == whole.end);
}

TEST_CASE("arrival order gives every row once an epoch, over any number of resumes",
          "[actors][pipeline]") {
  Job job;
  job.order.mode = OrderSpec::Mode::kArrival;
  Position position;
  std::map<std::string, int> seen;
  std::size_t pulled = 0;
  while (position.epoch < job.order.epochs) {
    const Run part = Job::pull(*job.start({3, 3, 2, 3}, 1 << 28, position), pulled++ % 9 + 1);
    for (const std::string& row : part.rows) ++seen[row];
    position = part.end;
  }
  CHECK(seen.size() == 2300);
  CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& entry) { return entry.second == 2; }));
}

TEST_CASE("training and held-out rows are the dataset, each row on one side",
          "[actors][pipeline]") {
  Job job;
  job.order.epochs = 1;
  job.filter = RowFilter(RowFilter::Keep::kTraining, 1, 0.25);
  const Run training = Job::pull(*job.start({1, 2, 1, 1}));
  job.filter = RowFilter(RowFilter::Keep::kHeldOut, 1, 0.25);
  const Run held_out = Job::pull(*job.start({1, 2, 1, 1}));
  CHECK(training.end.held_out == held_out.rows.size());
  CHECK(training.rows.size() + held_out.rows.size() == 2300);
  // A quarter of 2300 rows is 575, standard deviation 21.
  CHECK(std::abs(static_cast<int>(held_out.rows.size()) - 575) < 100);
  std::set<std::string> all(training.rows.begin(), training.rows.end());
  all.insert(held_out.rows.begin(), held_out.rows.end());
  CHECK(all.size() == 2300);
}

TEST_CASE("damaged rows are counted once, quarantined, and leave the batches full",
          "[actors][pipeline]") {
  Job job({3, 999, 1000, 2299});
  auto quarantine = Quarantine::open(
      {.path = job.path("quarantine.tsv"), .allowed = 4, .already = 0, .dataset = job.dataset()},
      Quarantine::Begin::kFresh);
  REQUIRE(quarantine);
  job.on_damaged = [&](const std::vector<BadRow>& rows) { return (*quarantine)->add(rows); };
  const Run run = Job::pull(*job.start({2, 2, 1, 1}));
  CHECK(run.rows.size() == 2 * 2296);
  CHECK(run.end.bad_rows == 4);
  CHECK((*quarantine)->count() == 4);
  CHECK(std::count(run.batch_rows.begin(), run.batch_rows.end(), 100U) == 44);
}

TEST_CASE("one damaged row more than allowed ends the run with an error that names it",
          "[actors][pipeline]") {
  Job job({500});
  auto quarantine = Quarantine::open(
      {.path = job.path("quarantine.tsv"), .allowed = 0, .already = 0, .dataset = job.dataset()},
      Quarantine::Begin::kFresh);
  REQUIRE(quarantine);
  job.on_damaged = [&](const std::vector<BadRow>& rows) { return (*quarantine)->add(rows); };
  const auto pipeline = job.start({1, 1, 1, 1});
  std::string message;
  while (true) {
    auto batch = pipeline->next();
    if (!batch) {
      message = batch.error().message;
      break;
    }
    REQUIRE(*batch != nullptr);
  }
  CHECK_THAT(message, Catch::Contains("day_0.tsv: line 501") && Catch::Contains("bad_rows"));
}

TEST_CASE("a split in which the decoder finds other rows than the index fails the run",
          "[actors][pipeline]") {
  for (const int more : {1, -1}) {
    Job job;
    job.recount(more);
    const auto pipeline = job.start({1, 1, 1, 1});
    auto batch = pipeline->next();
    while (batch && *batch != nullptr) batch = pipeline->next();
    REQUIRE_FALSE(batch);
    CHECK(batch.error().code == Code::kCorrupt);
    const std::string reason = more > 0 ? "fewer" : "more";
    CHECK_THAT(batch.error().message, Catch::Contains("day_") && Catch::Contains(": line ") &&
                                          Catch::Contains(reason + " rows than were indexed"));
  }
}

TEST_CASE("each batch is announced, in order, before it can be taken", "[actors][pipeline]") {
  Job job;
  std::mutex mutex;
  std::vector<const Batch*> announced;
  job.on_batch = [&](const std::shared_ptr<const Batch>& batch) {
    const std::lock_guard lock(mutex);
    announced.push_back(batch.get());
  };
  const auto pipeline = job.start({2, 2, 2, 2});
  std::vector<std::shared_ptr<const Batch>> taken;
  while (auto batch = pipeline->next().value()) {
    taken.push_back(batch);
    const std::lock_guard lock(mutex);
    REQUIRE(announced.size() >= taken.size());
    CHECK(announced[taken.size() - 1] == batch.get());
  }
  CHECK(announced.size() == taken.size());
}

// After each split the batch actor divides the memory by the stages' threads, also while the
// pipeline is being destroyed.
TEST_CASE("a pipeline that is destroyed waits for its batch actor", "[actors][pipeline]") {
  Job job({7});
  std::promise<void> begun;
  job.on_damaged = [&](const std::vector<BadRow>&) {
    const std::size_t without_stages = test::threads_of_this_process() - 4;
    begun.set_value();
    test::wait_until([&] { return test::threads_of_this_process() <= without_stages; });
    return Status{};
  };
  auto pipeline = job.start({1, 1, 1, 1});
  begun.get_future().wait();
  pipeline.reset();
  CHECK(pipeline == nullptr);
}

TEST_CASE("a stopped pipeline gives no more batches and ends", "[actors][pipeline]") {
  Job job;
  const auto pipeline = job.start({2, 2, 2, 2});
  REQUIRE(pipeline->next());
  pipeline->stop();
  const auto after = pipeline->next();
  REQUIRE(after);
  CHECK(*after == nullptr);
}

TEST_CASE("memory too small for one split is refused with the bytes needed", "[actors][pipeline]") {
  Job job;
  PipelineSpec spec;
  spec.memory_bytes = 10 << 20;
  auto plan = TransformPlan::compile({}, job.dataset().format().schema());
  REQUIRE(plan);
  const Sizing sizing(job.dataset(), *plan, job.order);
  auto refused = plan_memory(spec, sizing, 8 << 20);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kOverloaded);
  CHECK_THAT(refused.error().message,
             Catch::Contains("pipeline.memory = 10 MiB") && Catch::Contains("at least"));
}

}  // namespace
}  // namespace forebay
