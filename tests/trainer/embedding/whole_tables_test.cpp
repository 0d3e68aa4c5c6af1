#include <atomic>
#include <map>

#include "tests/support/no_thread_left.h"
#include "tests/support/skip_note.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"
#include "tests/trainer/embedding/table_run.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/embedding/tiered/tiered_state.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

using Optimizer = TrainerSpec::TableOptimizer;
using Snapshot = TrainerSpec::Tables::Snapshot;

constexpr std::size_t kWholeWidth = 6;
constexpr std::size_t kSlots = 240;

/// A table cut by rows and a whole one, in memory or in tiers, trained alike.
struct Fixture {
  test::TempDir dir;
  Optimizer optimizer = Optimizer::kAdagrad;
  Snapshot snapshot = Snapshot::kWhole;

  TableLayout layout() const {
    return {.rows = {600, 600},
            .features = {3, 1},
            .first = {200, 0},
            .whole = {1000, 600},
            .width = kWholeWidth,
            .dim = kWholeWidth - 1,
            .state_width = state_width(optimizer, kWholeWidth),
            .seed = 7};
  }
  std::unique_ptr<EmbeddingTables> with(std::unique_ptr<CopyRoom> room,
                                        std::unique_ptr<TableStorage> storage) const {
    return std::make_unique<EmbeddingTables>(std::move(room), std::move(storage),
                                             EmbeddingTables::Rule{optimizer, {}});
  }
  std::unique_ptr<EmbeddingTables> in_memory() const {
    auto room = std::make_unique<CopyRoom>(4096, 1 << 20);
    auto storage = make_memory_tables(layout(), *room, dir.path("memory"));
    return with(std::move(room), std::move(storage));
  }
  std::uint64_t memory() const {
    std::uint64_t bytes = 1 << 20;
    while (tiered_slots(layout(), bytes, snapshot) < kSlots) bytes += 1024;
    return bytes;
  }
  std::unique_ptr<EmbeddingTables> in_tiers(const std::string& name = "t") const {
    auto room = std::make_unique<CopyRoom>(4096, 1 << 20);
    auto storage =
        make_tiered_tables(
            layout(), {.memory_bytes = memory(), .folder = dir.path(name), .snapshot = snapshot},
            *room)
            .value();
    return with(std::move(room), std::move(storage));
  }
  std::shared_ptr<const Batch> batch(std::uint64_t number) const {
    auto lists = std::make_shared<test::ListBatch>(5, number, layout().rows, 20);
    return {lists, &lists->batch};
  }
  void train(EmbeddingTables& tables, std::uint64_t first, std::uint64_t end) const {
    for (; first < end; ++first) REQUIRE(test::step(tables, *batch(first), kWholeWidth));
  }
};

/// The bytes of every tensor, read in pieces of `piece` bytes.
std::map<std::string, std::vector<std::byte>> bytes_of(StateSource& state, std::size_t piece) {
  std::map<std::string, std::vector<std::byte>> all;
  for (std::size_t index = 0; index < state.tensors().size(); ++index) {
    const StateTensor& tensor = state.tensors()[index];
    std::vector<std::byte> bytes(tensor.bytes());
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const std::size_t count = std::min(piece, bytes.size() - at);
      REQUIRE(state.read(index, at, std::span(bytes).subspan(at, count)));
    }
    all[tensor.name + "/" + std::to_string(static_cast<int>(tensor.part))] = std::move(bytes);
  }
  return all;
}

std::vector<MemoryTensor> beside(std::vector<float>& values) {
  StateTensor tensor{.name = "top", .shape = {static_cast<std::int64_t>(values.size())}};
  return {in_memory(std::move(tensor), values)};
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a whole snapshot of tables in tiers is one of tables in memory",
                 "[trainer][embedding]") {
  optimizer = GENERATE(Optimizer::kAdagrad, Optimizer::kRowwiseAdagrad, Optimizer::kSgd);
  const auto tiers = in_tiers();
  const auto memory = in_memory();
  train(*tiers, 0, 20);
  train(*memory, 0, 20);
  std::vector<float> top = {1, 2, 3};
  auto whole = tiers->snapshot(beside(top)).value();
  auto plain = memory->snapshot(beside(top)).value();
  train(*tiers, 20, 40);  // The snapshot keeps the values of its moment.
  CHECK(whole->tensors() == plain->tensors());
  const auto wanted = bytes_of(*plain, 1 << 20);
  CHECK(bytes_of(*whole, GENERATE(std::size_t{1} << 20, std::size_t{1000})) == wanted);
}

TEST_CASE_METHOD(Fixture, "memory for a full snapshot is left free of rows",
                 "[trainer][embedding]") {
  const std::uint64_t bytes = memory();
  CHECK(tiered_slots(layout(), bytes, Snapshot::kWhole) <
        tiered_slots(layout(), bytes, Snapshot::kLinked));
}

TEST_CASE_METHOD(Fixture,
                 "a full snapshot that is never read does not block training or the next snapshot",
                 "[trainer][embedding]") {
  const auto tiers = in_tiers();
  train(*tiers, 0, 5);
  { const auto unread = tiers->snapshot({}).value(); }
  train(*tiers, 5, 10);
  CHECK(tiers->snapshot({}));
}

TEST_CASE_METHOD(Fixture, "tables continue from a snapshot of any storage in any storage",
                 "[trainer][embedding]") {
  optimizer = GENERATE(Optimizer::kAdagrad, Optimizer::kSgd);
  snapshot = GENERATE(Snapshot::kWhole, Snapshot::kLinked);
  const auto before = GENERATE(true, false) ? in_tiers() : in_memory();
  train(*before, 0, 20);
  std::vector<float> top = {1, 2, 3};
  auto state = before->snapshot(beside(top)).value();
  const auto after = GENERATE(true, false) ? in_tiers("other") : in_memory();
  train(*after, 30, 70);  // Restoring must replace all of this.
  std::vector<float> restored(3);
  REQUIRE(after->restore(*state, beside(restored)));
  CHECK(restored == top);
  state.reset();
  train(*before, 20, 30);
  train(*after, 20, 30);
  CHECK(test::contents(*after, layout().rows, kWholeWidth, 50) ==
        test::contents(*before, layout().rows, kWholeWidth, 50));
}

TEST_CASE_METHOD(Fixture, "abandoning whole tables ends a wait for them", "[trainer][embedding]") {
  /// Tables in tiers whose rows can be read once the gate is open.
  class Held final : public StateSource {
   public:
    Held(std::unique_ptr<StateSource> tiers, std::atomic<bool>& open)
        : tiers_(std::move(tiers)), open_(open) {}
    const std::vector<StateTensor>& tensors() const override { return tiers_->tensors(); }
    Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override {
      if (tensors()[index].part != StateTensor::Part::kTables) {
        test::wait_until([this] { return open_.load(); });
      }
      return tiers_->read(index, offset, to);
    }
    Result<std::string> files_folder() override { return tiers_->files_folder(); }

   private:
    const std::unique_ptr<StateSource> tiers_;
    std::atomic<bool>& open_;
  };
  snapshot = Snapshot::kLinked;
  const auto tiers = in_tiers();
  train(*tiers, 0, 5);
  std::atomic<bool> open = false;
  const auto whole = whole_tables(
      layout(), std::make_shared<Held>(tiers->snapshot({}).value(), open), dir.path("whole"));
  whole->give_up();
  open = true;
  std::vector<std::byte> row(kWholeWidth * sizeof(float));
  const auto refused = whole->read(0, 0, row);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kTimeout);
}

TEST_CASE_METHOD(Fixture, "whole tables without a thread to move rows refuse to be read",
                 "[trainer][embedding]") {
  if (!test::kCanRefuseThreads) return test::note_skipped("a sanitizer needs memory for a thread");
  snapshot = Snapshot::kLinked;
  const auto tiers = in_tiers();
  train(*tiers, 0, 5);
  std::shared_ptr<StateSource> linked = tiers->snapshot({}).value();
  std::unique_ptr<StateSource> whole;
  test::with_no_thread_left([&] { whole = whole_tables(layout(), linked, dir.path("whole")); });
  std::vector<std::byte> row(kWholeWidth * sizeof(float));
  const auto refused = whole->read(0, 0, row);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.starts_with("no thread can be started for whole tables: "));
}

TEST_CASE_METHOD(Fixture, "whole tables of another shape are refused before anything is changed",
                 "[trainer][embedding]") {
  const auto before = in_memory();
  train(*before, 0, 5);
  auto state = before->snapshot({}).value();
  optimizer = Optimizer::kSgd;
  const auto tiers = in_tiers();
  train(*tiers, 0, 5);
  const auto refused = tiers->restore(*state, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInvalid);
  train(*tiers, 5, 10);
}

TEST_CASE_METHOD(Fixture, "the state of tables in tiers that other tables cannot have is refused",
                 "[trainer][embedding]") {
  snapshot = Snapshot::kLinked;
  const auto before = in_tiers();
  train(*before, 0, 5);
  auto state = before->snapshot({}).value();
  optimizer = Optimizer::kRowwiseAdagrad;
  const auto memory = in_memory();
  const auto refused = memory->restore(*state, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInvalid);
}
