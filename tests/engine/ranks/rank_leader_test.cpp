#include "engine/ranks/rank_leader.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>

#include "engine/ranks/leading_model.h"
#include "engine/ranks/rank_follower.h"
#include "tests/support/thread_collective.h"
#include "tests/trainer/click_batches.h"
#include "trainer/ranks/placement.h"

#include "tests/support/catch.h"

using namespace forebay;
using test::ClickBatches;

namespace {

/// A model with one named value for each table that a rank has; records its calls.
class NoteModel final : public Model {
 public:
  explicit NoteModel(std::vector<std::string> tables) : tables_(std::move(tables)) {
    values_.resize(tables_.size());
  }
  bool learns() const override { return true; }
  Result<double> step(const Batch& batch) override {
    done += "step " + std::to_string(batch.number) + ":" + std::to_string(batch.rows) + " ";
    for (float& value : values_) value += 1;
    if (!fails.empty()) return fail(Code::kCorrupt, fails);
    if (ranks == nullptr) return 0.5;
    if (auto met = sum_over_ranks(*ranks, 0); !met) return pass(met);
    return 0.5;
  }
  Status predict(const Batch& batch, std::span<float>) override {
    done += "score " + std::to_string(batch.rows) + " ";
    return {};
  }
  void prefetch(std::shared_ptr<const Batch> ids) override {
    const std::lock_guard lock(mutex_);
    if (ids == nullptr) {
      expected_ += "nothing ";
      return;
    }
    expected_ += std::to_string(ids->number) + ":" + std::to_string(ids->rows) + "x" +
                 std::to_string(ids->sparse_features) + " ";
  }
  std::string expected() {
    const std::lock_guard lock(mutex_);
    return expected_;
  }
  Result<std::unique_ptr<StateSource>> snapshot() override {
    return std::make_unique<Snapshot>(tables_, values_);
  }
  Status restore(StateSource& from) override {
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      if (from.tensors().at(i).name != tables_[i]) return fail(Code::kInvalid, "other tensors");
      auto read = from.read(i, 0, std::as_writable_bytes(std::span(&values_[i], 1)));
      if (!read) return read;
    }
    return {};
  }

  std::string done;
  std::string fails;            // the error of a step
  Collective* ranks = nullptr;  // a step waits for these ranks

 private:
  class Snapshot final : public StateSource {
   public:
    Snapshot(const std::vector<std::string>& names, std::vector<float> values)
        : values_(std::move(values)) {
      for (const std::string& name : names) tensors_.push_back({.name = name, .shape = {1}});
    }
    const std::vector<StateTensor>& tensors() const override { return tensors_; }
    Status read(std::size_t index, std::uint64_t, std::span<std::byte> to) override {
      std::memcpy(to.data(), &values_[index], to.size());
      return {};
    }

   private:
    std::vector<StateTensor> tensors_;
    const std::vector<float> values_;
  };

  const std::vector<std::string> tables_;
  std::vector<float> values_;
  std::mutex mutex_;
  std::string expected_;  // under mutex_
};

struct RanksFixture {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};
  SystemClock clock;
  ClickBatches::Options data{.rows = 7, .dense = 4, .sparse = 3, .batches = 4};
  Schema schema{.dense = {"a", "b", "c", "d"}, .sparse = {{"x", 9}, {"y", 0}, {"z", 0}}};
  ClickBatches batches{pool, data};
  bool looks_ahead = false;
  int stopped_by = 0;
  std::vector<std::unique_ptr<Collective>> collectives;  // outlive the leader
  std::unique_ptr<RankLeader> leader;
  NoteModel* first = nullptr;
  std::unique_ptr<LeadingModel> model;
  std::vector<std::unique_ptr<NoteModel>> others;
  std::vector<std::string> ended;  // results of follow()
  Schema accepted;                 // by the last rank
  MostIds accepted_ids;
  std::vector<std::thread> threads;
  std::atomic<int> signal{0};
  std::atomic<bool> stop{false};
  std::size_t goes = 0;  // a rank that reports itself ready and then leaves

  void open(int size) {
    leader = RankLeader::open({.size = size,
                               .group = "g",
                               .keys = "",
                               .address = "127.0.0.1:0",
                               .timeout = std::chrono::seconds(20),
                               .on_stop = [this](int number) { stopped_by = number; }},
                              clock)
                 .value();
    auto own = std::make_unique<NoteModel>(std::vector<std::string>{"top", "table.0"});
    first = own.get();
    std::vector<BatchDivider> dividers;
    for (int rank = 0; rank < size && looks_ahead; ++rank) {
      // Feature 0 belongs to rank 0, the others belong to the last rank.
      const TablePlacement all{.shards = {{0, 0, 9, 0}, {1, 0, 9, size - 1}, {2, 0, 9, size - 1}},
                               .replicated = {}};
      dividers.emplace_back(std::vector<std::int64_t>{9, 9, 9}, shards_of_rank(all, rank));
    }
    model = std::make_unique<LeadingModel>(std::move(own), *leader, std::move(dividers));
    leader->feed(batches);
    ended.resize(static_cast<std::size_t>(size));
    for (int rank = 1; rank < size; ++rank) {
      others.push_back(std::make_unique<NoteModel>(
          std::vector<std::string>{"top", "table." + std::to_string(rank)}));
    }
  }
  std::unique_ptr<RankFollower> follower(int rank) {
    auto made = RankFollower::open({.rank = rank,
                                    .size = static_cast<int>(ended.size()),
                                    .group = "g",
                                    .keys = "",
                                    .address = leader->address(),
                                    .batch_size = data.rows,
                                    .timeout = std::chrono::seconds(20),
                                    .stop_signal = [this] { return signal.load(); }},
                                   clock);
    return std::move(made.value());
  }
  void start_followers() {
    for (std::size_t rank = 1; rank < ended.size(); ++rank) {
      threads.emplace_back([this, rank] { ended[rank] = run_follower(rank); });
    }
  }
  std::string run_follower(std::size_t rank) {
    auto end = follower(static_cast<int>(rank));
    if (auto status = end->wait_for_acceptance(); !status) return status.error().message;
    if (rank + 1 == ended.size()) {
      accepted = end->schema();
      accepted_ids = end->most_ids();
    }
    end->ready({});
    if (rank == goes) return "gone";
    if (others[rank - 1]->ranks != nullptr) end->breaks(*others[rank - 1]->ranks);
    auto done = follow(*end, *others[rank - 1]);
    end->close();
    return done ? "batches " + std::to_string(done->batches) : done.error().message;
  }
  void accept() {
    REQUIRE(leader->wait_for_ranks(stop));
    leader->accept(schema, MostIds::one_each(8, 3));
  }
  void begin() {
    start_followers();
    accept();
    REQUIRE(leader->wait_until_ready());
  }
  void finish(const Status& how = {}) {
    leader->end(how);
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }
  void step() {
    const auto batch = leader->next().value();
    REQUIRE(batch != nullptr);
    REQUIRE(model->step(*batch));
  }
  ~RanksFixture() {
    leader.reset();
    for (std::thread& thread : threads) thread.join();
  }
};

std::string state_text(StateSource& source) {
  std::string text;
  for (std::size_t i = 0; i < source.tensors().size(); ++i) {
    float value = 0;
    REQUIRE(source.read(i, 0, std::as_writable_bytes(std::span(&value, 1))));
    text += source.tensors()[i].name + "=" + std::to_string(static_cast<int>(value)) + " ";
  }
  return text;
}

}  // namespace

TEST_CASE_METHOD(RanksFixture, "every rank trains on its rows of every batch, in order",
                 "[tools][ranks]") {
  open(3);
  begin();
  while (const auto batch = leader->next().value()) REQUIRE(model->step(*batch));
  const auto last = batches.make(0);
  REQUIRE(model->predict(*last, {}));
  finish();
  CHECK(first->done == "step 0:2 step 1:2 step 2:2 step 3:2 score 7 ");
  CHECK(others[0]->done == "step 0:2 step 1:2 step 2:2 step 3:2 score 0 ");
  CHECK(others[1]->done == "step 0:3 step 1:3 step 2:3 step 3:3 score 0 ");
  CHECK(ended[1] == "batches 4");
}

TEST_CASE_METHOD(RanksFixture, "dealt rows without a command are not trained on",
                 "[tools][ranks]") {
  open(2);
  begin();
  step();
  finish();
  CHECK(others[0]->done == "step 0:4 ");
  CHECK(ended[1] == "batches 1");
}

TEST_CASE_METHOD(RanksFixture, "each rank is announced the rows of its tables before a step",
                 "[tools][ranks]") {
  data.batches = 12;
  ClickBatches many{pool, data};
  looks_ahead = true;
  open(3);
  leader->feed(many);
  begin();
  for (std::uint64_t number = 0; number < 11; ++number) model->prefetch(many.make(number));
  CHECK(first->expected() == "0:7x1 1:7x1 2:7x1 3:7x1 4:7x1 5:7x1 6:7x1 7:7x1 ");
  while (const auto batch = leader->next().value()) REQUIRE(model->step(*batch));
  model->prefetch(nullptr);
  finish();
  // The last batch was not announced; it is stepped on all the same.
  const std::string all = "0:7x1 1:7x1 2:7x1 3:7x1 4:7x1 5:7x1 6:7x1 7:7x1 8:7x1 9:7x1 10:7x1 ";
  CHECK(first->expected() == all + "nothing ");
  INFO(others[0]->expected() << " | " << others[1]->expected());
  CHECK(others[0]->expected().starts_with("0:7x0 1:7x0 "));
  CHECK(
      others[1]->expected().starts_with("0:7x2 1:7x2 2:7x2 3:7x2 4:7x2 5:7x2 6:7x2 7:7x2 8:7x2 "
                                        "9:7x2 10:7x2 "));
  CHECK(ended[2] == "batches 12");
}

TEST_CASE_METHOD(RanksFixture, "cancelled batches are announced again if they are prefetched again",
                 "[tools][ranks]") {
  data.batches = 12;
  ClickBatches many{pool, data};
  looks_ahead = true;
  open(2);
  leader->feed(many);
  begin();
  for (std::uint64_t number = 0; number < 10; ++number) model->prefetch(many.make(number));
  model->prefetch(nullptr);
  for (std::uint64_t number = 0; number < 2; ++number) model->prefetch(many.make(number));
  step();
  step();
  finish();
  const std::string eight = "0:7x1 1:7x1 2:7x1 3:7x1 4:7x1 5:7x1 6:7x1 7:7x1 ";
  CHECK(first->expected() == eight + "nothing 0:7x1 1:7x1 ");
  const std::string twos = "0:7x2 1:7x2 2:7x2 3:7x2 4:7x2 5:7x2 6:7x2 7:7x2 ";
  CHECK(others[0]->expected() == twos + "nothing 0:7x2 1:7x2 ");
}

TEST_CASE_METHOD(
    RanksFixture,
    "a batch that was not trained does not block the next one, which was not announced",
    "[tools][ranks]") {
  looks_ahead = true;
  open(2);
  begin();
  model->prefetch(batches.make(0));
  REQUIRE(leader->next().value() != nullptr);  // No step is made on this batch.
  step();
  finish();
  CHECK(others[0]->done == "step 1:4 ");
  CHECK(ended[1] == "batches 1");
}

TEST_CASE_METHOD(RanksFixture, "announced ids that arrive before the model is made wait for it",
                 "[tools][ranks]") {
  looks_ahead = true;
  open(2);
  std::vector<std::uint64_t> told;
  threads.emplace_back([&] {
    const auto end = follower(1);
    ended[1] = end->wait_for_acceptance() ? "" : "no welcome";
    end->ready({});
    if (!end->wait_for_ids(0)) ended[1] = "no ids";
    end->tell_ids([&](const std::shared_ptr<const Batch>& ids) { told.push_back(ids->number); });
    end->close();
  });
  accept();
  REQUIRE(leader->wait_until_ready());
  model->prefetch(batches.make(0));
  threads[0].join();
  threads.clear();
  CHECK(ended[1].empty());
  CHECK(told == std::vector<std::uint64_t>{0});
}

TEST_CASE_METHOD(RanksFixture, "a snapshot has the tables of all ranks, and all go on from it",
                 "[tools][ranks]") {
  open(3);
  begin();
  step();
  step();
  std::unique_ptr<StateSource> state = model->snapshot().value();
  step();
  CHECK(state_text(*state) == "top=2 table.0=2 table.1=2 table.2=2 ");

  // Other ranks resume from the state of one model, as from a checkpoint.
  RanksFixture again;
  again.open(3);
  again.begin();
  NoteModel whole({"top", "table.0", "table.1", "table.2"});
  for (int i = 0; i < 5; ++i) REQUIRE(whole.step(*batches.make(0)));
  again.model->goes_on_from([&] { return whole.snapshot(); });
  REQUIRE(again.model->restore(*whole.snapshot().value()));
  CHECK(state_text(*again.model->snapshot().value()) == "top=5 table.0=5 table.1=5 table.2=5 ");
  again.finish();
  state.reset();
  finish();
}

TEST_CASE_METHOD(RanksFixture, "the other ranks report why rank 0 does not begin",
                 "[tools][ranks]") {
  open(2);
  start_followers();
  accept();
  finish(fail(Code::kInvalid, "no such file"));
  CHECK(ended[1] == "rank 0: no such file");
}

TEST_CASE_METHOD(RanksFixture, "a rank that is lost is named", "[tools][ranks]") {
  open(2);
  begin();
  auto lost = follower(1);  // The second rank 1 is refused, so that the first one stays.
  lost.reset();
  step();
  finish(fail(Code::kInvalid, "as if killed"));
  const Error error = leader->explain({Code::kUnavailable, "connection reset"});
  CHECK(error.message.starts_with("rank 1 was lost ("));
  CHECK(leader->explain({Code::kCorrupt, "its own"}).message == "its own");
  const auto snapshot = model->snapshot();
  REQUIRE_FALSE(snapshot);
  CHECK(snapshot.error().message.starts_with("rank 1 was lost ("));
}

TEST_CASE_METHOD(RanksFixture, "waiting for a lost rank fails at once and names the rank",
                 "[tools][ranks]") {
  collectives = test::ThreadCollective::make(3, std::chrono::minutes(10));
  open(3);
  leader->breaks(*collectives[0]);
  first->ranks = collectives[0].get();
  others[1]->ranks = collectives[2].get();
  goes = 1;
  begin();
  const auto loss = model->step(*leader->next().value());
  REQUIRE_FALSE(loss);
  CHECK(loss.error().message.starts_with("rank 1 was lost ("));
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  CHECK(ended[2].starts_with("rank 0: rank 1 was lost ("));
}

TEST_CASE_METHOD(RanksFixture,
                 "a rank that waits for rank 0 fails at once with the reason that rank 0 ended",
                 "[tools][ranks]") {
  collectives = test::ThreadCollective::make(2, std::chrono::minutes(10));
  open(2);
  others[0]->ranks = collectives[1].get();
  begin();
  step();
  finish(fail(Code::kInvalid, "no such file"));
  CHECK(ended[1] == "rank 0: no such file");
}

TEST_CASE_METHOD(RanksFixture,
                 "rank 0 explains a lost connection by the error of the rank that failed",
                 "[tools][ranks]") {
  collectives = test::ThreadCollective::make(2, std::chrono::minutes(10));
  open(2);
  leader->breaks(*collectives[0]);
  others[0]->fails = "no such row";
  begin();
  step();
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  CHECK(ended[1] == "no such row");
  const Error error = leader->explain({Code::kUnavailable, "connection reset"});
  CHECK(error.message.starts_with("rank 1 failed: no such row; go on from"));
}

TEST_CASE_METHOD(RanksFixture, "a rank that gets a stop request asks rank 0 to stop",
                 "[tools][ranks]") {
  open(2);
  begin();
  signal = 15;
  step();
  step();
  finish();
  CHECK(stopped_by == 15);
  CHECK(ended[1] == "batches 2");
}

TEST_CASE_METHOD(RanksFixture, "all ranks know the columns, their groups and the bounds of the ids",
                 "[tools][ranks]") {
  schema.repeated = {{.dense = {1}, .sparse = {0, 2}}};
  schema.weight = true;
  open(3);
  begin();
  finish();
  CHECK(accepted == schema);
  CHECK(accepted_ids == MostIds::one_each(8, 3));
}

TEST_CASE_METHOD(RanksFixture, "a rank of another group is not accepted", "[tools][ranks]") {
  open(2);
  const auto stranger =
      RankFollower::open(
          {.rank = 1, .size = 2, .group = "other", .keys = "", .address = leader->address()}, clock)
          .value();
  start_followers();
  accept();
  finish(fail(Code::kInvalid, "done"));
  CHECK(ended[1] == "rank 0: done");
}
