#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/support/descriptor_limit.h"
#include "tests/support/skip_note.h"
#include "tests/support/temp_dir.h"
#include "trainer/saving/checkpoint_store.h"
#include "trainer/saving/durable_file.h"
#include "trainer/state/snapshot.h"

#include "tests/support/catch.h"

using namespace forebay;
namespace fs = std::filesystem;

namespace {

/// A model of two tensors, one of them the optimizer's.
class TwoTensors final : public Model {
 public:
  bool learns() const override { return true; }
  Result<double> step(const Batch&) override { return 0; }
  Status predict(const Batch&, std::span<float>) override { return {}; }
  Result<std::unique_ptr<StateSource>> snapshot() override { return snapshot_of_memory(tensors()); }
  Status restore(StateSource& from) override { return restore_memory(from, tensors()); }

  std::array<float, 4> weights{};
  std::size_t weights_used = 3;
  std::array<float, 3> squares{};

 private:
  std::vector<MemoryTensor> tensors() {
    const auto used = static_cast<std::int64_t>(weights_used);
    return {in_memory({.name = "w", .shape = {used}}, {weights.data(), weights_used}),
            in_memory({.name = "w", .part = StateTensor::Part::kOptimizer, .shape = {3}}, squares)};
  }
};

struct StoreFixture {
  CheckpointStore store() const { return CheckpointStore::open(directory.string()).value(); }
  std::string save(std::uint64_t batches) {
    model.weights[0] = static_cast<float>(batches);
    state.loader.position.batches = batches;
    return store().save(*model.snapshot().value(), state).value();
  }
  Result<CheckpointStore::Found> find(Model& into) const {
    return store().restore_last(into, [](const Checkpoint&) { return Status(); });
  }
  std::uint64_t last() const {
    TwoTensors other;
    const auto found = find(other).value();
    return found.checkpoint ? found.checkpoint->batches : 0;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory)) {
      found.push_back(entry.path().filename().string());
    }
    std::ranges::sort(found);
    return found;
  }

  test::TempDir temp;
  const fs::path directory = temp.path();
  TwoTensors model;
  TrainState state;
};

void flip_byte(const fs::path& path, std::uint64_t place) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(place));
  const char flipped = static_cast<char>(file.get() ^ 1);
  file.seekp(static_cast<std::streamoff>(place));
  file.put(flipped);
}

void flip_last_byte(const fs::path& path) { flip_byte(path, fs::file_size(path) - 1); }

}  // namespace

TEST_CASE_METHOD(StoreFixture, "a checkpoint restores the state that was saved",
                 "[trainer][checkpoint]") {
  model.weights = {1, 2, 3};
  model.squares = {4, 5, 6};
  state.loader.fingerprint = "f";
  state.loader.identity["seed"] = std::string("1");
  for (int step = 0; step < 250; ++step) state.losses.add(1.0 / 3 + step);
  state.evaluations = R"({"steps":[4]})";
  state.texts["tuner/experience"] = "known";
  save(17);

  TwoTensors other;
  auto found = find(other);
  REQUIRE(found);
  REQUIRE(found->checkpoint);
  CHECK(found->damaged.empty());
  CHECK(found->checkpoint->batches == 17);
  CHECK(found->checkpoint->state.loader == state.loader);
  CHECK(found->checkpoint->state.losses == state.losses);
  CHECK(found->checkpoint->state.evaluations == state.evaluations);
  CHECK(found->checkpoint->state.texts == state.texts);
  CHECK(fs::path(found->checkpoint->path).filename() == "checkpoint-000000017");
  CHECK(other.weights == std::array<float, 4>{17, 2, 3});
  CHECK(other.squares == model.squares);
}

TEST_CASE_METHOD(StoreFixture, "the last two checkpoints are kept", "[trainer][checkpoint]") {
  for (std::uint64_t batches : {5, 999999999, 1000000000}) save(batches);
  CHECK(last() == 1000000000);
  CHECK(names() == std::vector<std::string>{"checkpoint-1000000000", "checkpoint-999999999"});
}

TEST_CASE_METHOD(StoreFixture, "replaced checkpoints are set aside and removed later",
                 "[trainer][checkpoint]") {
  CheckpointStore one = CheckpointStore::open(directory.string(), 1).value();
  const auto save_by_one = [&](std::uint64_t batches) {
    state.loader.position.batches = batches;
    REQUIRE(one.save(*model.snapshot().value(), state));
  };
  for (std::uint64_t batches : {1, 2}) save_by_one(batches);
  CHECK(names() ==
        std::vector<std::string>{".tmp-old-checkpoint-000000001", "checkpoint-000000002"});
  REQUIRE(one.sweep());
  CHECK(names() == std::vector<std::string>{"checkpoint-000000002"});
  for (std::uint64_t batches : {3, 4}) save_by_one(batches);
  CHECK(names() ==
        std::vector<std::string>{".tmp-old-checkpoint-000000003", "checkpoint-000000004"});
}

TEST_CASE_METHOD(StoreFixture, "a damaged checkpoint is named and the one before it used",
                 "[trainer][checkpoint]") {
  save(1);
  const fs::path damaged = save(2);
  std::string file;
  SECTION("a byte of the model") { flip_last_byte(damaged / (file = "model.safetensors")); }
  SECTION("a byte of the loader's state") { flip_last_byte(damaged / (file = "loader.json")); }
  SECTION("a file that is shorter") {
    fs::resize_file(damaged / (file = "optimizer.safetensors"), 20);
  }
  SECTION("a removed file") { fs::remove(damaged / (file = "losses.json")); }
  SECTION("a byte of a tensor's name") { flip_byte(damaged / (file = "model.safetensors"), 10); }
  SECTION("no manifest") { fs::remove(damaged / (file = "manifest.json")); }
  SECTION("half a manifest") { fs::resize_file(damaged / (file = "manifest.json"), 30); }
  TwoTensors other;
  auto found = find(other);
  REQUIRE(found);
  REQUIRE(found->damaged.size() == 1);
  CHECK(found->damaged.front().find((damaged / file).string()) != std::string::npos);
  REQUIRE(found->checkpoint);
  CHECK(found->checkpoint->batches == 1);
}

TEST_CASE_METHOD(StoreFixture, "a checkpoint that its disk cannot read is not reported as changed",
                 "[trainer][checkpoint]") {
  save(1);
  const fs::path folder = save(2);
  const fs::path file = folder / GENERATE("manifest.json", "model.safetensors");
  fs::remove(file);
  fs::create_symlink(file, file);
  TwoTensors other;
  auto found = find(other);
  REQUIRE(found);
  REQUIRE(found->damaged.size() == 1);
  CHECK_THAT(found->damaged.front(), Catch::StartsWith(file.string() + ": cannot be "));
  CHECK_THAT(found->damaged.front(), Catch::EndsWith(std::strerror(ELOOP)));
  REQUIRE(found->checkpoint);
  CHECK(found->checkpoint->batches == 1);
}

/// Drops a superuser's rights, for which all files open.
class Anybody {
 public:
  Anybody() {
    if (was_ == 0) REQUIRE(::seteuid(65534) == 0);
  }
  ~Anybody() { static_cast<void>(::seteuid(was_)); }
  Anybody(const Anybody&) = delete;
  Anybody& operator=(const Anybody&) = delete;

 private:
  const uid_t was_ = ::geteuid();
};

TEST_CASE_METHOD(StoreFixture, "a FIFO in place of a checkpoint's file is damage, not a wait",
                 "[trainer][checkpoint]") {
  const fs::path folder = save(10);
  const std::string name = GENERATE("manifest.json", "loader.json", "model.safetensors");
  fs::remove(folder / name);
  REQUIRE(::mkfifo((folder / name).c_str(), 0600) == 0);
  TwoTensors other;
  const auto found = find(other);
  REQUIRE(found);
  CHECK_FALSE(found->checkpoint);
  REQUIRE(found->damaged.size() == 1);
  CHECK_THAT(found->damaged[0], Catch::Contains(name));
}

TEST_CASE_METHOD(StoreFixture, "a checkpoint without read permission is not reported as damaged",
                 "[trainer][checkpoint]") {
  save(1);
  const fs::path folder = save(2);
  const std::string file = GENERATE("manifest.json", "loader.json", "model.safetensors");
  CheckpointStore opened = store();
  fs::permissions(directory, fs::perms::all);
  fs::permissions(folder / file, fs::perms::none);
  TwoTensors other;
  bool in_reach = false;
  const auto found = [&] {
    const Anybody anybody;
    std::error_code error;
    in_reach = fs::exists(folder / file, error);
    return opened.restore_last(other, [](const Checkpoint&) { return Status(); });
  }();
  if (!in_reach) return test::note_skipped("another user cannot reach the temporary files");
  REQUIRE_FALSE(found);
  CHECK(found.error().code != Code::kCorrupt);
  CHECK(found.error().message.find((folder / file).string()) != std::string::npos);
}

TEST_CASE_METHOD(StoreFixture, "a run resumed before a damaged checkpoint replaces it",
                 "[trainer][checkpoint]") {
  save(1);
  fs::remove(fs::path(save(3)) / "manifest.json");
  REQUIRE(last() == 1);
  save(2);
  CHECK(last() == 2);
  CHECK(names() == std::vector<std::string>{"checkpoint-000000001", "checkpoint-000000002"});
}

TEST_CASE_METHOD(StoreFixture, "unfinished files of a killed run are removed",
                 "[trainer][checkpoint]") {
  save(1);
  fs::create_directory(directory / ".tmp-checkpoint-000000002");
  fs::create_directory(directory / ".tmp-old-checkpoint-000000001");
  fs::create_directory(directory / ".tmp-trial");
  std::ofstream(directory / ".tmp-checkpoint-000000002" / "model.safetensors") << "half";
  CHECK(last() == 1);
  CHECK(names() == std::vector<std::string>{"checkpoint-000000001"});
}

TEST_CASE_METHOD(StoreFixture, "a folder whose name only resembles a checkpoint's is left alone",
                 "[trainer][checkpoint]") {
  const std::string first = save(1);
  const std::vector<std::string> own = {".tmp-checkpoint-old", ".tmp-mine",
                                        "checkpoint-000000001.bak", "checkpoint-2",
                                        "checkpoint-best"};
  for (const std::string& name : own) fs::copy(first, directory / name);
  CHECK(last() == 1);
  for (std::uint64_t batches : {2, 3, 4}) save(batches);
  REQUIRE(store().sweep());
  for (const std::string& name : own) CHECK(fs::exists(directory / name / "manifest.json"));
  CHECK(names().size() == own.size() + 2);
  REQUIRE(store().clear());
  CHECK(names() == own);
  CHECK(store().empty());
}

TEST_CASE_METHOD(StoreFixture, "a model of another shape is refused and left as it was",
                 "[trainer][checkpoint]") {
  save(1);
  TwoTensors other;
  other.weights_used = 4;
  auto refused = find(other);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInvalid);
  CHECK(refused.error().message.find("w is 3 F32 in it and 4 F32 in this model") !=
        std::string::npos);
  CHECK(other.weights == std::array<float, 4>{});
}

TEST_CASE_METHOD(StoreFixture, "an empty store has no checkpoint to resume",
                 "[trainer][checkpoint]") {
  CHECK(store().empty());
  CHECK(last() == 0);
  save(1);
  CHECK_FALSE(store().empty());
  REQUIRE(store().clear());
  CHECK(store().empty());
}

TEST_CASE_METHOD(StoreFixture, "a resume that no descriptor is left for skips no checkpoint",
                 "[trainer][checkpoint]") {
  save(1);
  save(2);
  std::optional<CheckpointStore> opened = store();
  TwoTensors other;
  std::optional<Result<CheckpointStore::Found>> found;
  std::optional<Result<Checkpoint>> read;
  bool empty = true;
  {
    const test::DescriptorLimit none(0);
    found = opened->restore_last(other, [](const Checkpoint&) { return Status(); });
    read = read_checkpoint((directory / "checkpoint-000000002").string(), Check::kSizes);
    empty = opened->empty();
  }
  opened.reset();
  REQUIRE_FALSE(*found);
  CHECK(found->error().code == Code::kUnavailable);
  CHECK(found->error().message.find("raise ulimit -n") != std::string::npos);
  REQUIRE_FALSE(*read);
  CHECK(read->error().code == Code::kUnavailable);
  CHECK(read->error().message.find("raise ulimit -n") != std::string::npos);
  CHECK_FALSE(empty);
  CHECK(last() == 2);
}

TEST_CASE_METHOD(StoreFixture, "a directory of another run is refused and left unchanged",
                 "[trainer][checkpoint]") {
  std::optional<CheckpointStore> first = store();
  fs::create_directory(directory / ".tmp-checkpoint-000000007");
  const auto refused = CheckpointStore::open(directory.string());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find(directory.string()) != std::string::npos);
  CHECK(fs::exists(directory / ".tmp-checkpoint-000000007"));
  first.reset();
  CHECK(store().empty());
}

TEST_CASE_METHOD(StoreFixture, "an impossible directory is refused", "[trainer][checkpoint]") {
  std::ofstream(directory / "file") << "x";
  auto refused = CheckpointStore::open((directory / "file" / "below").string());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("trainer.checkpoint") != std::string::npos);
}

TEST_CASE("a running digest does not depend on how the bytes came", "[trainer][checkpoint]") {
  const std::string bytes((std::size_t{5} << 20) / 2, 'x');
  RunningDigest whole, pieces;
  whole.add(bytes.data(), bytes.size());
  for (std::size_t at = 0; at < bytes.size(); at += 70001) {
    pieces.add(bytes.data() + at, std::min<std::size_t>(70001, bytes.size() - at));
  }
  CHECK(whole.finish() == pieces.finish());
}
