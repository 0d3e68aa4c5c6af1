#include <map>
#include <mutex>

#include "actors/pipeline.h"
#include "actors/split_issuer.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

std::string criteo_rows(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += i % 3 == 0 ? "1\t" : "0\t";
    text += std::to_string(i);
    for (int column = 2; column <= 39; ++column) text += column < 14 ? "\t7" : "\tdeadbeef";
    text += '\n';
  }
  return text;
}

/// Two nodes in one process: splits of even numbers are made by the pipeline, odd ones by stages
/// of another node; some by both.
class TwoNodes final : public SplitDispatch, StageOwner {
 public:
  TwoNodes() {
    dir_.write("day_0.tsv", criteo_rows(4000));
    DatasetSpec spec;
    spec.paths = {"*.tsv"};
    DatasetOptions options;
    options.base_dir = dir_.path();
    options.run_dir = dir_.path("run");
    auto opened = open_dataset(spec, {}, options);
    REQUIRE(opened);
    dataset_ = std::move(*opened);
    auto plan = TransformPlan::compile({}, dataset_->format().schema());
    REQUIRE(plan);
    plan_ = std::make_unique<TransformPlan>(std::move(*plan));
    spec_.batch_size = 128;
    spec_.epochs = 3;
    order_ = std::make_unique<EpochOrder>(*dataset_, spec_);
    sizing_ = std::make_unique<Sizing>(*dataset_, *plan_, spec_);
  }

  std::unique_ptr<Pipeline> start(SplitDispatch* dispatch, bool makes_splits = true) {
    auto planned = plan_memory({.memory_bytes = 1 << 28, .actors = {1, 1, 1, 1}}, *sizing_, 0);
    REQUIRE(planned);
    return std::make_unique<Pipeline>(
        Pipeline::Options{.dataset = *dataset_,
                          .plan = *plan_,
                          .order = spec_,
                          .actors = {1, 1, 1, 1},
                          .memory = *planned,
                          .decode = {.filter = {}, .keep_origins = false},
                          .start = {},
                          .buffers = buffers_,
                          .clock = clock_,
                          .on_damaged = [](const std::vector<BadRow>&) { return Status{}; },
                          .dispatch = dispatch,
                          .makes_splits = makes_splits});
  }

  static Digest digest_of(Pipeline& pipeline) {
    Digest last;
    while (auto batch = *pipeline.next()) last = batch->after.digest;
    return last;
  }

  Digest run_on_both() {
    auto pipeline = start(this);
    StagePools elsewhere({.inputs = {.dataset = *dataset_,
                                     .plan = *plan_,
                                     .decode = {},
                                     .seed = spec_.seed,
                                     .buffers = buffers_},
                          .actors = {2, 2, 2, 2},
                          .mailbox_bytes = sizing_->sizes().usual_split,
                          .clock = clock_,
                          .owner = *this});
    elsewhere.start();
    {
      const std::lock_guard lock(mutex_);
      pipeline_ = pipeline.get();
      elsewhere_ = &elsewhere;
      for (const std::uint64_t number : early_) assign(number);
    }
    const Digest digest = digest_of(*pipeline);
    elsewhere.cancel();
    history = pipeline->history();
    return digest;
  }

  /// Changes a byte of the last row and leaves the file's size and time.
  void damage_file() const {
    const std::string path = dir_.path("day_0.tsv");
    const auto time = std::filesystem::last_write_time(path);
    std::string content = dir_.read("day_0.tsv");
    content[content.size() - 2] = 'x';
    dir_.write("day_0.tsv", content);
    std::filesystem::last_write_time(path, time);
  }

  std::map<std::uint64_t, int> times_taken;  // by number
  std::vector<PastSplit> history;

 private:
  void issued(std::uint64_t number) override {
    const std::lock_guard lock(mutex_);
    if (pipeline_ == nullptr) return early_.push_back(number);
    assign(number);
  }
  void made_here(std::uint64_t number, std::uint64_t) override {
    const std::lock_guard lock(mutex_);
    ++times_taken[number];
  }

  void assign(std::uint64_t number) {
    if (number % 2 == 0 || number % 5 == 0) pipeline_->make(number);
    if (number % 2 == 1 || number % 4 == 0) {
      elsewhere_->make(split_to_make(split_id(number, *order_), *order_, *sizing_));
    }
  }

  Status put(Split&& split, PoolContext&) override {
    const std::uint64_t number = split.id.number;
    split.node = "w";
    std::vector<Split> parts;
    parts.push_back(std::move(split));
    const bool first = pipeline_->accept(std::move(parts));
    const std::lock_guard lock(mutex_);
    if (first) ++times_taken[number];
    return {};
  }
  void failed(const Error&) override {}
  bool has_room_for(std::uint64_t, std::uint64_t) const override { return true; }

  test::TempDir dir_;
  MemoryBudget budget_{1 << 28};
  BufferPool buffers_{budget_};
  SystemClock clock_;
  OrderSpec spec_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<TransformPlan> plan_;
  std::unique_ptr<EpochOrder> order_;
  std::unique_ptr<Sizing> sizing_;
  std::mutex mutex_;
  std::vector<std::uint64_t> early_;  // issued before the pipeline started
  Pipeline* pipeline_ = nullptr;
  StagePools* elsewhere_ = nullptr;
};

TEST_CASE("splits made on two nodes, some on both, give the batches of one", "[actors][pipeline]") {
  TwoNodes nodes;
  auto alone = nodes.start(nullptr);
  const std::uint64_t splits = 3 * alone->splits_per_epoch();
  const Digest usual = TwoNodes::digest_of(*alone);
  CHECK(nodes.run_on_both() == usual);
  CHECK(nodes.times_taken.size() == splits);
  for (const auto& [number, times] : nodes.times_taken) CHECK(times == 1);
  CHECK(nodes.history.size() == splits);
  for (const PastSplit& split : nodes.history) {
    const bool only_there = split.number % 2 == 1 && split.number % 5 != 0;
    const bool only_here = split.number % 2 == 0 && split.number % 4 != 0;
    if (only_there) CHECK(split.node == "w");
    if (only_here) CHECK(split.node.empty());
    CHECK(split.times.stages[3].end > split.times.stages[0].begin);
  }
}

TEST_CASE("a pipeline refuses a split that was not issued or has arrived", "[actors][pipeline]") {
  TwoNodes nodes;
  ExpectedSplits expected;
  expected.add({.number = 7});
  CHECK(expected.contains(7));
  CHECK_FALSE(expected.take(8).has_value());
  CHECK(expected.take(7).has_value());
  CHECK_FALSE(expected.take(7).has_value());
  auto pipeline = nodes.start(&nodes);
  std::vector<Split> unknown(1);
  unknown[0].id.number = 1'000'000;
  CHECK_FALSE(pipeline->accept(std::move(unknown)));
}

/// A dispatch that drops issued splits: no node makes them.
struct Nobody final : SplitDispatch {
  void issued(std::uint64_t) override {}
  void made_here(std::uint64_t, std::uint64_t) override {}
};

/// A dispatch that has each split made here at once, but for one, which is made last.
class OneIsSlow final : public SplitDispatch {
 public:
  explicit OneIsSlow(std::uint64_t slow) : slow_(slow) {}

  void begin(Pipeline& pipeline) {
    const std::lock_guard lock(mutex_);
    pipeline_ = &pipeline;
    for (const std::uint64_t number : early_) make(number);
  }
  std::uint64_t issued_so_far() {
    const std::lock_guard lock(mutex_);
    return issued_;
  }

 private:
  void issued(std::uint64_t number) override {
    const std::lock_guard lock(mutex_);
    ++issued_;
    pipeline_ == nullptr ? early_.push_back(number) : make(number);
  }
  void made_here(std::uint64_t, std::uint64_t) override {}
  void make(std::uint64_t number) {
    if (number != slow_) pipeline_->make(number);
  }

  const std::uint64_t slow_;
  std::mutex mutex_;
  std::uint64_t issued_ = 0;
  std::vector<std::uint64_t> early_;
  Pipeline* pipeline_ = nullptr;
};

TEST_CASE("splits that wait for a slow one make room for others in memory that nobody wants",
          "[actors][pipeline]") {
  TwoNodes nodes;
  auto alone = nodes.start(nullptr);
  const std::uint64_t splits = 3 * alone->splits_per_epoch();
  const std::uint64_t window = 10;  // four actors, four stages and two
  REQUIRE(splits > 2 * window);
  const Digest usual = TwoNodes::digest_of(*alone);
  OneIsSlow dispatch(1);
  auto pipeline = nodes.start(&dispatch);
  dispatch.begin(*pipeline);
  test::wait_until([&] { return dispatch.issued_so_far() == splits; });
  CHECK(pipeline->stats().window_bytes > window * pipeline->sizes().usual_split);
  pipeline->make(1);
  CHECK(TwoNodes::digest_of(*pipeline) == usual);
}

TEST_CASE("the stages of a node that makes no splits have no actors and get none",
          "[actors][pipeline]") {
  TwoNodes nodes;
  Nobody nobody;
  auto pipeline = nodes.start(&nobody, false);
  CHECK(pipeline->stages().threads() == 0);
  CHECK(pipeline->stats().actors_wanted == std::vector<std::uint32_t>{0, 0, 0, 0});
  CHECK(pipeline->stages().resize(0, 1).error().code == Code::kOverloaded);
  CHECK(pipeline->stages().threads() == 0);
}

TEST_CASE("damage in this node's files is found while no worker makes the expected splits",
          "[actors][pipeline]") {
  TwoNodes nodes;
  Nobody nobody;
  auto pipeline = nodes.start(&nobody);
  CHECK(pipeline->check_expected());
  nodes.damage_file();
  const auto found = pipeline->check_expected();
  REQUIRE_FALSE(found);
  CHECK(found.error().code == Code::kCorrupt);
  CHECK_THAT(found.error().message, Catch::Contains("day_0.tsv: line 4000 (byte "));
  pipeline->end_with(found.error());
  const auto batch = pipeline->next();
  REQUIRE_FALSE(batch);
  CHECK(batch.error().message == found.error().message);
}

}  // namespace
}  // namespace forebay
