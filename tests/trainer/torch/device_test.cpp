#include <algorithm>
#include <deque>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include <ATen/ops/zeros.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "tests/support/list_batch.h"
#include "tests/trainer/embedding/table_run.h"
#include "tests/trainer/state_values.h"
#include "tests/trainer/tested_device.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/torch/device/device_tables.h"
#include "trainer/torch/device/transfer.h"
#include "trainer/torch/libtorch.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

/// The calls to a device, one word each; streams are numbers, 0 the one that computes.
struct Recorded {
  std::vector<std::string> calls;
  c10::StreamId current = 0;
  c10::StreamId last_given = 0;
  int events = 0;

  std::vector<std::string> take() { return std::exchange(calls, {}); }
};
// Global, since a guard stays registered as long as the process lives.
Recorded* recorded = nullptr;

constexpr c10::DeviceType kRecording = c10::DeviceType::PrivateUse1;

class RecordingGuard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kRecording; }
  c10::Device exchangeDevice(c10::Device) const override { return getDevice(); }
  c10::Device getDevice() const override { return {kRecording, 3}; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device device) const noexcept override {
    return c10::Stream(c10::Stream::UNSAFE, device, recorded->current);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return c10::Stream(c10::Stream::UNSAFE, device, ++recorded->last_given);
  }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override {
    return c10::Stream(c10::Stream::UNSAFE, stream.device(),
                       std::exchange(recorded->current, stream.id()));
  }
  c10::DeviceIndex deviceCount() const noexcept override { return 4; }
  void record(void** event, const c10::Stream& stream, c10::DeviceIndex,
              c10::EventFlag) const override {
    *event = reinterpret_cast<void*>(static_cast<std::intptr_t>(++recorded->events));
    note("record", *event, stream);
  }
  void block(void* event, const c10::Stream& stream) const override {
    note("block", event, stream);
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    recorded->calls.push_back("wait " + std::to_string(stream.id()));
  }

 private:
  static void note(const std::string& what, void* event, const c10::Stream& stream) {
    recorded->calls.push_back(what + " e" + std::to_string(reinterpret_cast<std::intptr_t>(event)) +
                              " " + std::to_string(stream.id()));
  }
};

/// The tested device's lanes, which record their calls: "run in", "in before compute", "wait out".
class WatchedLanes final : public DeviceLanes {
 public:
  at::Device device() const override { return lanes_->device(); }
  at::Tensor host_memory(std::int64_t bytes) const override { return lanes_->host_memory(bytes); }
  void run(DeviceLane lane, std::function<void()> work) override {
    calls.push_back("run " + name(lane));
    lanes_->run(lane, std::move(work));
  }
  std::unique_ptr<LaneMark> mark(DeviceLane lane) override {
    return std::make_unique<Mark>(*this, lane, lanes_->mark(lane));
  }
  std::vector<std::string> take() { return std::exchange(calls, {}); }

  std::vector<std::string> calls;

 private:
  struct Mark final : LaneMark {
    Mark(WatchedLanes& its, DeviceLane lane, std::unique_ptr<LaneMark> within)
        : lanes(its), of(name(lane)), mark(std::move(within)) {}
    void block(DeviceLane lane) override {
      lanes.calls.push_back(of + " before " + name(lane));
      mark->block(lane);
    }
    void wait() override {
      lanes.calls.push_back("wait " + of);
      mark->wait();
    }

    WatchedLanes& lanes;
    const std::string of;
    const std::unique_ptr<LaneMark> mark;
  };

  static std::string name(DeviceLane lane) {
    return lane == DeviceLane::kCompute ? "compute" : lane == DeviceLane::kIn ? "in" : "out";
  }

  const std::unique_ptr<DeviceLanes> lanes_ = make_lanes(at::Device(test::tested_device()));
};

/// Two tables on the tested device. On the host copies are made only when they are waited for.
struct OnDevice {
  static constexpr std::size_t kWidth = 4;

  OnDevice(std::vector<std::int64_t> table_rows, std::uint64_t slots,
           const TrainerSpec::Tables& spec = {})
      : layout{.rows = std::move(table_rows),
               .width = kWidth,
               .dim = kWidth,
               .state_width = 1,
               .seed = 1},
        tables(spec.storage == TrainerSpec::Storage::kHashed
                   ? make_hashed_tables(layout, spec, room)
                   : make_memory_tables(layout, room),
               layout, slots, lanes, team),
        finder(tables.folds()) {}

  BatchRows find(test::ListBatch& lists) {
    lists.batch.labels = labels.data();
    BatchRows rows;
    REQUIRE(finder.find(lists.batch, lists.batch.rows, rows));
    return rows;
  }
  /// The rows of a batch as a step would see them.
  at::Tensor seen(const BatchRows& rows) {
    const StagedBatch batch = tables.on_device(rows);
    return tables.weights().index_select(0, batch.slots.to(at::kLong));
  }
  /// Whether these values are the host's, row by row.
  bool as_on_host(const BatchRows& rows) {
    const at::Tensor values = seen(rows).cpu();
    std::size_t row = 0;
    for (std::size_t feature = 0; feature < rows.features(); ++feature) {
      for (const std::int32_t slot : rows.slots_of(feature)) {
        const float* on_host = tables.arena(feature).weights(static_cast<std::size_t>(slot));
        const float* on_device = values.data_ptr<float>() + row++ * kWidth;
        if (!std::equal(on_host, on_host + kWidth, on_device)) return false;
      }
    }
    return row == rows.num_rows();
  }
  /// Sets each row of a batch to a value, and its optimizer state to another.
  void fill(const BatchRows& rows, float value) {
    const at::Tensor slots = tables.on_device(rows).slots.to(at::kLong);
    tables.weights().index_fill_(0, slots, value);
    tables.moments()[0].value.index_fill_(0, slots, value + 1);
    tables.changed(rows);
  }

  TableLayout layout;
  std::vector<float> labels = std::vector<float>(20);
  CopyRoom room{128, 1 << 16};
  WatchedLanes lanes;
  ThreadTeam team{2};
  DeviceTables tables;
  RowFinder finder;
};

}  // namespace

TEST_CASE("on the cpu work of a lane is put off until a mark behind it is waited for",
          "[trainer][device]") {
  const auto lanes = make_lanes(at::Device("cpu"));
  std::vector<int> done;
  lanes->run(DeviceLane::kIn, [&] { done.push_back(1); });
  lanes->run(DeviceLane::kIn, [&] { done.push_back(2); });
  const auto mark = lanes->mark(DeviceLane::kIn);
  lanes->run(DeviceLane::kIn, [&] { done.push_back(3); });
  lanes->mark(DeviceLane::kCompute)->wait();
  lanes->mark(DeviceLane::kOut)->wait();
  CHECK(done.empty());
  // A lane that waits for another does so when its turn comes.
  mark->block(DeviceLane::kOut);
  lanes->run(DeviceLane::kOut, [&] { done.push_back(4); });
  CHECK(done.empty());
  lanes->mark(DeviceLane::kOut)->wait();
  CHECK(done == std::vector{1, 2, 4});
  lanes->mark(DeviceLane::kIn)->block(DeviceLane::kCompute);
  CHECK(done == std::vector{1, 2, 4, 3});
  mark->wait();
  CHECK(done == std::vector{1, 2, 4, 3});
}

TEST_CASE("on a device lanes are streams and marks are events", "[trainer][device]") {
  static const RecordingGuard guard;
  static const c10::impl::DeviceGuardImplRegistrar registered(kRecording, &guard);
  Recorded device;
  recorded = &device;
  const auto lanes = make_lanes(at::Device(kRecording));
  CHECK(lanes->device() == at::Device(kRecording, 3));
  c10::StreamId inside = 0;
  lanes->run(DeviceLane::kIn, [&] { inside = device.current; });
  CHECK(inside == 1);
  CHECK(device.current == 0);
  lanes->run(DeviceLane::kOut, [&] { inside = device.current; });
  CHECK(inside == 2);
  device.take();
  auto copied = lanes->mark(DeviceLane::kIn);
  auto computed = lanes->mark(DeviceLane::kCompute);
  copied->block(DeviceLane::kCompute);
  computed->block(DeviceLane::kOut);
  CHECK(device.take() ==
        std::vector<std::string>{"record e1 1", "record e2 0", "block e1 0", "block e2 2"});
  // The host waits for the mark only: for a stream without other work.
  copied->wait();
  CHECK(device.take() == std::vector<std::string>{"block e1 3", "wait 3"});
}

TEST_CASE("a batch is staged for the device as one block of memory", "[trainer][device]") {
  test::ListBatch lists({}, 0, 0);
  lists.lengths = {2, 0, 1, 1};
  lists.ids = {5, 6, 6, 5};
  lists.fill(0, 2, 2);
  std::vector<float> dense{1, 2, 3, 4, 5, 6};
  std::vector<float> labels{0, 1};
  lists.batch.dense = dense.data();
  lists.batch.dense_features = 3;
  lists.batch.labels = labels.data();
  RowFinder finder({0, 0});
  BatchRows rows;
  REQUIRE(finder.find(lists.batch, 2, rows));
  StagedExtents extents = extents_of(lists.batch, rows);
  extents.fetched = 3;
  extents.row_size = 2;
  const at::Tensor host = at::zeros({staged_bytes(extents)}, at::kByte);
  for (std::size_t part = 0; part < staged_parts(lists.batch); ++part) {
    write_staged(lists.batch, rows, staged_in(host, extents), part);
  }
  staged_in(host, extents).fetched.fill_(7);
  staged_in(host, extents).slots.fill_(9);

  const StagedBatch device = staged_in(host.clone(), extents);
  const auto ints = [](const at::Tensor& tensor) {
    const auto values = values_of<std::int32_t>(tensor);
    return std::vector(values.begin(), values.end());
  };
  CHECK(device.dense.sizes() == at::IntArrayRef({2, 3}));
  CHECK(std::ranges::equal(values_of<float>(device.dense), dense));
  CHECK(std::ranges::equal(values_of<float>(device.labels), labels));
  CHECK(ints(device.offsets) == std::vector{0, 2, 2, 3, 4});
  CHECK(ints(device.places) == std::vector{0, 1, 2, 3});
  CHECK(ints(device.slots) == std::vector{9, 9, 9, 9});
  CHECK(device.fetched.sizes() == at::IntArrayRef({3, 2}));
  CHECK_FALSE(device.weights.defined());
  CHECK_FALSE(device.bags.defined());

  std::vector<float> weights{0.5F, 3};
  lists.batch.weights = weights.data();
  StagedExtents weighted = extents_of(lists.batch, rows);
  weighted.fetched = extents.fetched;
  weighted.row_size = extents.row_size;
  CHECK(staged_bytes(weighted) == staged_bytes(extents) + 64);
  const at::Tensor other = at::zeros({staged_bytes(weighted)}, at::kByte);
  for (std::size_t part = 0; part < staged_parts(lists.batch); ++part) {
    write_staged(lists.batch, rows, staged_in(other, weighted), part);
  }
  const StagedBatch there = staged_in(other.clone(), weighted);
  CHECK(std::ranges::equal(values_of<float>(there.weights), weights));
  CHECK(std::ranges::equal(values_of<float>(there.labels), labels));
}

TEST_CASE("rows that share a list have one bag of it on the device", "[trainer][device]") {
  // Rows 0 and 2 share {5, 6} of the second of two features; the first has {3}, {}, {4}.
  test::ListBatch lists({}, 0, 0);
  lists.lengths = {1, 0, 1, 2, 1, 2};
  lists.ids = {3, 4, 5, 6, 7};
  lists.fill(0, 2, 3);
  const std::vector<std::uint32_t> numbers{0, 1, 0}, first_rows{0, 1};
  test::share_lists(lists.batch, {1}, numbers, first_rows);
  std::vector<float> labels(3);
  lists.batch.labels = labels.data();
  RowFinder finder({0, 0});
  BatchRows rows;
  REQUIRE(finder.find(lists.batch, 3, rows));
  const StagedExtents extents = extents_of(lists.batch, rows);
  const at::Tensor host = at::zeros({staged_bytes(extents)}, at::kByte);
  const StagedBatch staged = staged_in(host, extents);
  for (std::size_t part = 0; part < staged_parts(lists.batch); ++part) {
    write_staged(lists.batch, rows, staged, part);
  }
  using Ints = std::vector<std::int32_t>;
  CHECK(std::ranges::equal(values_of<std::int32_t>(staged.offsets), Ints{0, 1, 1, 2, 4, 5}));
  CHECK(std::ranges::equal(values_of<std::int32_t>(staged.bags), Ints{0, 3, 1, 4, 2, 3}));
  CHECK(std::ranges::equal(values_of<std::int32_t>(staged.places), Ints{0, 1, 2, 3, 4}));
}

TEST_CASE("the parts of a large batch are the whole batch", "[trainer][device]") {
  constexpr std::size_t kRows = 10'000;
  const std::size_t features = GENERATE(0, 3);
  test::ListBatch lists(1, 0, std::vector<std::int64_t>(features, 50), kRows);
  std::vector<float> dense(2 * kRows), labels(kRows), weights(kRows);
  std::iota(dense.begin(), dense.end(), 1.0F);
  std::iota(labels.begin(), labels.end(), 0.5F);
  std::iota(weights.begin(), weights.end(), 0.25F);
  lists.batch.dense = dense.data();
  lists.batch.dense_features = 2;
  lists.batch.labels = labels.data();
  lists.batch.weights = weights.data();
  RowFinder finder(std::vector<std::int64_t>(features, 50));
  BatchRows rows;
  REQUIRE(finder.find(lists.batch, kRows, rows));
  const StagedExtents extents = extents_of(lists.batch, rows);
  const at::Tensor host = at::zeros({staged_bytes(extents)}, at::kByte);
  const StagedBatch staged = staged_in(host, extents);
  for (std::size_t part = staged_parts(lists.batch); part-- > 0;) {
    write_staged(lists.batch, rows, staged, part);
  }
  CHECK(std::ranges::equal(values_of<float>(staged.dense), dense));
  CHECK(std::ranges::equal(values_of<float>(staged.labels), labels));
  CHECK(std::ranges::equal(values_of<float>(staged.weights), weights));
  const auto offsets = values_of<std::int32_t>(staged.offsets);
  REQUIRE(offsets.size() == features * kRows + 1);
  CHECK(offsets.back() == static_cast<std::int32_t>(lists.ids.size()));
  for (std::size_t bag = 0; bag + 1 < offsets.size(); ++bag) {
    if (offsets[bag + 1] - offsets[bag] != lists.lengths[bag]) FAIL("bag " << bag);
  }
}

TEST_CASE("rows go to the device once, and their changed values are copied back",
          "[trainer][device]") {
  OnDevice given({30, 30}, 60);
  test::ListBatch lists(1, 0, given.layout.rows, 5);
  BatchRows rows = given.find(lists);
  REQUIRE(given.tables.prepare(rows, 1));
  CHECK(given.as_on_host(rows));
  CHECK(given.tables.on_device(rows).fetched.size(0) == extent(rows.num_rows()));
  given.fill(rows, 5);
  CHECK_FALSE(given.as_on_host(rows));
  given.tables.finish(1);
  BatchRows again = given.find(lists);
  REQUIRE(given.tables.prepare(again, 2));
  CHECK(given.tables.on_device(again).fetched.size(0) == 0);
  CHECK(given.as_on_host(again));
  CHECK(given.tables.arena(1).state(static_cast<std::size_t>(again.slots.back()))[0] == 6);
}

TEST_CASE("copies and computing wait for each other on the device alone", "[trainer][device]") {
  using Calls = std::vector<std::string>;
  OnDevice given({30, 30}, 60);
  test::ListBatch lists(1, 0, given.layout.rows, 5);
  // Memory is allocated on the computing lane, so the copying lane waits for earlier work on it.
  CHECK(given.lanes.take() == Calls{"compute before in"});
  BatchRows rows = given.find(lists);
  REQUIRE(given.tables.prepare(rows, 1));
  CHECK(given.lanes.take() == Calls{"compute before in", "run in"});
  given.tables.on_device(rows);
  CHECK(given.lanes.take() == Calls{"in before compute"});
  given.tables.changed(rows);
  CHECK(given.lanes.take() == Calls{"compute before out", "run out"});
  given.tables.finish(1);
  CHECK(given.lanes.take() == Calls{"wait out", "compute before in"});
  // The host buffer of a copy is overwritten only after that copy has finished.
  REQUIRE(given.tables.prepare(rows, 2));
  CHECK(given.lanes.take() == Calls{"wait in", "run in"});
  given.tables.finish(2);
  CHECK(given.lanes.take() == Calls{"compute before in"});
  REQUIRE(given.tables.borrow(rows, TableStorage::Use::kScore));
  given.tables.on_device(rows);
  given.tables.give_back(rows);
  CHECK(given.lanes.take() ==
        Calls{"compute before in", "run in", "in before compute", "compute before in"});
}

TEST_CASE("rows copied back from the device do not change a snapshot that is being read",
          "[trainer][device]") {
  OnDevice given({30, 30}, 60);
  test::ListBatch lists(1, 0, given.layout.rows, 5);
  BatchRows rows = given.find(lists);
  const auto before = test::read_all(*given.tables.snapshot({}).value());
  auto snapshot = given.tables.snapshot({}).value();
  REQUIRE(given.tables.prepare(rows, 1));
  given.fill(rows, 5);
  given.tables.finish(1);
  const bool same = test::read_all(*snapshot) == before;
  CHECK(same);
  snapshot.reset();
  const bool later = test::read_all(*given.tables.snapshot({}).value()) == before;
  CHECK_FALSE(later);
}

TEST_CASE("so many batches are on the device, and another once one of them is finished",
          "[trainer][device]") {
  OnDevice given({300, 300}, 600);
  constexpr std::uint64_t kTooMany = DeviceTables::kStaged + 1;
  std::deque<test::ListBatch> lists;
  std::deque<BatchRows> rows;
  for (std::uint64_t turn = 1; turn <= kTooMany; ++turn) {
    rows.push_back(given.find(lists.emplace_back(1, turn, given.layout.rows, 5)));
    const Status prepared = given.tables.prepare(rows.back(), turn);
    CHECK(prepared.has_value() == (turn < kTooMany));
    if (!prepared) CHECK(prepared.error().code == Code::kOverloaded);
    // Overwrites the batch: its copy may be read only after the batch is gone.
    if (prepared) std::ranges::fill(lists.back().lengths, 100);
  }
  // The rows of the first batch stay while the others are prepared.
  CHECK(given.as_on_host(rows[0]));
  given.fill(rows[0], 3);
  given.tables.finish(1);
  REQUIRE(given.tables.prepare(rows.back(), kTooMany));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    CHECK(given.as_on_host(rows[i]));
    CHECK(given.tables.on_device(rows[i]).places.numel() == std::ssize(rows[i].place));
    given.tables.finish(i + 1);
  }
}

TEST_CASE("a device with too few slots names the key to raise", "[trainer][device]") {
  OnDevice given({300, 300}, 4);
  test::ListBatch lists(1, 0, given.layout.rows, 20);
  BatchRows rows = given.find(lists);
  const Status refused = given.tables.prepare(rows, 1);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("trainer.tables.device_memory") != std::string::npos);
  CHECK_FALSE(given.tables.borrow(rows, TableStorage::Use::kScore));
}

TEST_CASE("a row that the host reset is fetched again", "[trainer][device]") {
  OnDevice given({10}, 10,
                 {.storage = TrainerSpec::Storage::kHashed, .admit_after = 1, .evict_after = 4});
  const auto step = [&](std::int64_t id, float value) {
    test::ListBatch lists({}, 0, 0);
    lists.ids = {id};
    lists.lengths = {1};
    lists.fill(0, 1, 1);
    BatchRows rows = given.find(lists);
    REQUIRE(given.tables.borrow(rows, TableStorage::Use::kTrain));
    CHECK(given.as_on_host(rows));
    given.fill(rows, value);
    given.tables.give_back(rows);
    return rows.slots[0];
  };
  const std::int32_t slot = step(77, 5);
  for (int i = 0; i < 8; ++i) step(78, 6);
  // The id gets its slot back, with its first values.
  CHECK(step(77, 5) == slot);
}
