#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <thread>

#include <nlohmann/json.hpp>

#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"
#include "trainer/saving/block_file.h"
#include "trainer/saving/checkpoint_folder.h"
#include "trainer/saving/saver.h"
#include "trainer/saving/tensor_file.h"
#include "trainer/state/snapshot.h"

#include "tests/support/catch.h"

using namespace forebay;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// A state of one tensor with a reader that a gate holds up, and of files outside of the
/// checkpoint.
class HeldSource final : public StateSource {
 public:
  struct Gate {
    std::atomic<bool> open{true};
    std::atomic<bool> fails{false};
    std::atomic<bool> throws{false};
    std::atomic<int> readers{0};
    std::atomic<bool> given_up{false};
    bool heeds = false;  // a waiting read ends when it is given up
  };

  HeldSource(Gate& gate, fs::path links) : gate_(gate), links_(std::move(links)) {}

  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t, std::uint64_t, std::span<std::byte> to) override {
    ++gate_.readers;
    test::wait_until([this] { return gate_.open || (gate_.heeds && gate_.given_up); });
    if (!gate_.open) return fail(Code::kTimeout, "given up");
    if (gate_.fails) return fail(Code::kUnavailable, "no such state");
    if (gate_.throws) throw std::runtime_error("the reader broke");
    std::ranges::fill(to, std::byte{1});
    return {};
  }
  void give_up() override { gate_.given_up = true; }
  Status link_files(const std::string& folder) override {
    if (links_.empty()) return {};
    fs::create_directory(folder);
    for (const auto& entry : fs::directory_iterator(links_)) {
      fs::create_hard_link(entry.path(), folder / entry.path().filename());
    }
    return {};
  }

 private:
  Gate& gate_;
  const fs::path links_;
  std::vector<StateTensor> tensors_ = {{.name = "v", .shape = {1000}},
                                       {.name = "w", .shape = {1000}}};
};

class HeldModel final : public Model {
 public:
  bool learns() const override { return true; }
  Result<double> step(const Batch&) override { return 0; }
  Status predict(const Batch&, std::span<float>) override { return {}; }
  Result<std::unique_ptr<StateSource>> snapshot() override {
    if (!can_be_taken) return tl::unexpected<Error>(can_be_taken.error());
    return std::make_unique<HeldSource>(gate, links);
  }
  Status restore(StateSource&) override { return {}; }

  Status can_be_taken;
  HeldSource::Gate gate;
  fs::path links;
};

TrainState after(std::uint64_t batches) {
  TrainState state;
  state.loader.position.batches = batches;
  return state;
}

struct SaverFixture {
  Saver& saver(Saver::Options options = {}) {
    options.say = [this](const std::string& line) { said.push_back(line); };
    made = std::make_unique<Saver>(store, clock, std::move(options));
    return *made;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(temp.path())) {
      found.push_back(entry.path().filename().string());
    }
    std::ranges::sort(found);
    return found;
  }

  test::TempDir temp;
  test::ManualClock clock;
  HeldModel model;
  CheckpointStore store = CheckpointStore::open(temp.path()).value();
  std::vector<std::string> said;
  std::unique_ptr<Saver> made;  // goes before the model and the store
};

std::string digits(std::size_t count, char first) {
  std::string text(count, first);
  for (std::size_t i = 0; i < count; i += 1000) text[i] = static_cast<char>('0' + i / 1000 % 10);
  return text;
}

}  // namespace

TEST_CASE("a large file is read as it was written, with one digest", "[trainer][saving]") {
  const test::TempDir temp;
  const std::string path = (fs::path(temp.path()) / "file").string();
  const auto bytes = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{4096},
                              BlockRing::kBlockBytes, 6 * BlockRing::kBlockBytes + 12345);
  const std::string text = digits(bytes, 'a');
  auto writer = BlockFileWriter::create(path);
  REQUIRE(writer);
  CHECK_FALSE(BlockFileWriter::create(path));
  REQUIRE((*writer)->write(std::as_bytes(std::span(text))));
  const auto written = (*writer)->finish();
  REQUIRE(written);
  CHECK(written->bytes == bytes);
  CHECK(fs::file_size(path) == bytes);
  RunningDigest digest;
  digest.add(text.data(), text.size());
  CHECK(written->digest == digest.finish());

  auto reader = BlockFileReader::open(path);
  REQUIRE(reader);
  std::string got(bytes / 2, '\0');
  REQUIRE((*reader)->read(std::as_writable_bytes(std::span(got))));
  CHECK(got == text.substr(0, bytes / 2));
  REQUIRE((*reader)->skip_to(bytes - bytes / 4));
  got.resize(bytes / 4);
  REQUIRE((*reader)->read(std::as_writable_bytes(std::span(got))));
  CHECK(got == text.substr(bytes - bytes / 4));
  std::array<std::byte, 1> more{};
  CHECK((*reader)->read(more).error().code == Code::kCorrupt);
  const auto read = (*reader)->finish();
  REQUIRE(read);
  CHECK(read->bytes == bytes);
  CHECK(read->digest == written->digest);
}

TEST_CASE("a copy of a file that does not fit says that no space is left", "[trainer][saving]") {
  const test::TempDir dir;
  const std::string from = dir.path("rows");
  std::ofstream(from) << std::string(100000, 'x');
  const std::string to = dir.path("copy");
  std::ofstream(to) << "an older and longer file" << std::string(200000, 'y');
  REQUIRE(copy_whole(from, to));
  CHECK(read_part(to, 1 << 20).value() == std::string(100000, 'x'));
  const Status full = copy_whole(from, "/dev/full");
  REQUIRE_FALSE(full);
  CHECK(full.error().code == Code::kOverloaded);
  CHECK(full.error().message == "/dev/full: cannot be written: No space left on device");
  CHECK(copy_whole(dir.path("none"), to).error().code == Code::kUnavailable);
}

TEST_CASE("a read error of the disk is not reported as changed bytes", "[trainer][saving]") {
  const std::string path = "/proc/self/mem";  // No memory is mapped at offset 0: EIO.
  auto reader = BlockFileReader::open(path);
  REQUIRE(reader);
  const auto read = (*reader)->finish();
  REQUIRE_FALSE(read);
  CHECK(read.error() == Error{Code::kCorrupt, path + ": cannot be read: Input/output error"});
  const auto tensors = TensorFile::open(path, StateTensor::Part::kWeights);
  REQUIRE_FALSE(tensors);
  CHECK(tensors.error() == read.error());
}

TEST_CASE("the last save that loses least is chosen by the time left and the disk's speed",
          "[trainer][saving]") {
  // 1000 bytes at 200 a second: 5 s.
  const LastSaveQuestion last{.bytes = 1000, .bytes_per_second = 200};
  const auto plan = [&](std::uint64_t in_flight, std::chrono::nanoseconds left) {
    LastSaveQuestion question = last;
    question.bytes_left = in_flight;
    question.left = left;
    return plan_last_save(question);
  };
  CHECK(plan(0, 5s) == LastSave::kWrite);
  CHECK(plan(0, 4999ms) == LastSave::kNothing);
  CHECK(plan(400, 7s) == LastSave::kWaitAndWrite);
  CHECK(plan(400, 6999ms) == LastSave::kWrite);
  CHECK(plan(400, 4999ms) == LastSave::kWait);
  CHECK(plan(400, 1999ms) == LastSave::kNothing);
  CHECK(plan_last_save({.bytes = 1000, .left = 1ms}) == LastSave::kWrite);
  CHECK(plan_last_save({.bytes = 1000, .left = 0ms}) == LastSave::kNothing);
}

TEST_CASE_METHOD(SaverFixture, "a checkpoint is written while others are requested",
                 "[trainer][saving]") {
  model.gate.open = false;
  REQUIRE(saver().save(model, after(1)));
  CHECK_FALSE(made->save(model, after(2)));
  model.gate.open = true;
  const auto ended = made->finish(model, after(3));
  CHECK(ended.batches_lost == 0);
  CHECK(ended.written);
  CHECK(fs::path(ended.checkpoint).filename() == "checkpoint-000000003");
  CHECK(names() == std::vector<std::string>{"checkpoint-000000001", "checkpoint-000000003"});
  CHECK(said.empty());
}

TEST_CASE_METHOD(SaverFixture, "a batch that is saved already is not saved again at the end",
                 "[trainer][saving]") {
  saver({.checkpoint = "checkpoint-000000007", .batches = 7});
  CHECK(made->finish(model, after(7)).checkpoint == "checkpoint-000000007");
  CHECK(names().empty());
}

TEST_CASE_METHOD(SaverFixture, "a last checkpoint that does not fit is not begun",
                 "[trainer][saving]") {
  saver({.time_left = [] { return std::optional(0ns); }, .checkpoint = "c", .batches = 5});
  const auto ended = made->finish(model, after(9));
  CHECK(ended.batches_lost == 4);
  CHECK(ended.written);
  CHECK(ended.checkpoint == "c");
  CHECK(names().empty());
}

TEST_CASE_METHOD(SaverFixture, "a last checkpoint that takes too long is cancelled",
                 "[trainer][saving]") {
  // Time runs out once the first byte is requested, before another tensor is read.
  std::atomic<int> late{0};
  saver({.time_left =
             [&] {
               if (model.gate.readers > 0) ++late;
               return std::optional(late > 0 ? 0ns : 1ns);
             },
         .checkpoint = "c",
         .batches = 5});
  model.gate.open = false;
  std::thread opener([&] {
    test::wait_until([&] { return late > 1; });
    model.gate.open = true;
  });
  const auto ended = made->finish(model, after(9));
  opener.join();
  CHECK(ended.batches_lost == 4);
  CHECK(ended.written);
  CHECK(names().empty());
}

TEST_CASE_METHOD(SaverFixture, "cancelling a save ends its wait for the state",
                 "[trainer][saving]") {
  model.gate.open = false;
  model.gate.heeds = true;
  SECTION("when the time is up") {
    saver({.time_left = [&] { return std::optional(model.gate.readers > 0 ? 0ns : 1ns); }});
    const auto ended = made->finish(model, after(9));
    CHECK(ended.batches_lost == 9);
    CHECK(ended.written);
  }
  SECTION("at the end of the run") {
    saver();
    REQUIRE(made->save(model, after(9)));
    test::wait_until([&] { return model.gate.readers > 0; });
    made.reset();
  }
  CHECK(names().empty());
}

TEST_CASE_METHOD(SaverFixture, "replaced checkpoints are removed after a new one is written",
                 "[trainer][saving]") {
  saver();
  for (std::uint64_t batches : {1, 2, 3}) REQUIRE(made->finish(model, after(batches)).written);
  test::wait_until([&] { return names().size() == 2; });
  CHECK(names() == std::vector<std::string>{"checkpoint-000000002", "checkpoint-000000003"});
}

TEST_CASE_METHOD(SaverFixture, "a run's end waits until replaced checkpoints are removed",
                 "[trainer][saving]") {
  saver();
  const auto put_many_files = [&](const std::string& checkpoint) {
    for (int file = 0; file < 3000; ++file) std::ofstream(checkpoint + "/" + std::to_string(file));
  };
  put_many_files(made->finish(model, after(1)).checkpoint);  // Slow to remove.
  REQUIRE(made->finish(model, after(2)).written);
  SECTION("with a last checkpoint") { REQUIRE(made->finish(model, after(3)).written); }
  SECTION("after a failed run") {
    REQUIRE(made->save(model, after(3)));
    REQUIRE(made->fail_after(3).written);
  }
  CHECK(names() == std::vector<std::string>{"checkpoint-000000002", "checkpoint-000000003"});
}

TEST_CASE_METHOD(SaverFixture,
                 "a checkpoint that cannot be written is reported, and the next one is tried",
                 "[trainer][saving]") {
  saver();
  model.gate.fails = true;
  REQUIRE(made->save(model, after(1)));
  test::wait_until([&] { return made->save(model, after(2)); });
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("not written (there is no earlier one): ") != std::string::npos);
  model.gate.fails = false;
  auto ended = made->finish(model, after(3));
  CHECK(ended.written);
  CHECK(ended.batches_lost == 0);
  const std::size_t told = said.size();
  model.gate.fails = true;
  ended = made->finish(model, after(4));
  REQUIRE_FALSE(ended.written);
  CHECK(ended.written.error().message.find("not written (the last one stands): ") !=
        std::string::npos);
  CHECK(said.size() == told);  // The error of the last one is returned alone.
  CHECK(ended.batches_lost == 1);
  CHECK(fs::path(ended.checkpoint).filename() == "checkpoint-000000003");
}

TEST_CASE_METHOD(SaverFixture,
                 "a state that the model cannot give is reported, and training goes on",
                 "[trainer][saving]") {
  saver();
  REQUIRE(made->finish(model, after(1)).written);
  model.can_be_taken = fail(Code::kUnavailable, "no space left");
  REQUIRE(made->save(model, after(2)));
  const std::string line = "checkpoint not written (the last one stands): no space left";
  CHECK(said == std::vector<std::string>{line});
  auto ended = made->finish(model, after(3));
  CHECK(ended.batches_lost == 2);
  REQUIRE_FALSE(ended.written);
  CHECK(ended.written.error().message == line);
  model.can_be_taken = {};
  ended = made->finish(model, after(4));
  CHECK(ended.written);
  CHECK(ended.batches_lost == 0);
}

TEST_CASE_METHOD(SaverFixture, "a writer that crashes is restarted, and training goes on",
                 "[trainer][saving]") {
  saver();
  REQUIRE(made->finish(model, after(1)).written);
  model.gate.throws = true;
  REQUIRE(made->save(model, after(2)));
  test::wait_until([&] { return made->save(model, after(3)); });
  CHECK(said ==
        std::vector<std::string>{"checkpoint not written (the last one stands): the reader broke"});
  auto ended = made->fail_after(3);
  CHECK(ended.batches_lost == 2);
  CHECK(ended.written.error().code == Code::kUnavailable);
  model.gate.throws = false;
  ended = made->finish(model, after(4));
  CHECK(ended.written);
  CHECK(ended.batches_lost == 0);
  // Nothing is left of those that crashed.
  CHECK(names() == std::vector<std::string>{"checkpoint-000000001", "checkpoint-000000004"});
}

TEST_CASE_METHOD(SaverFixture, "the end of a checkpoint is announced, and its error collected",
                 "[trainer][saving]") {
  std::atomic<int> ends{0};
  saver({.on_ended = [&] { ++ends; }});
  model.gate.fails = true;
  REQUIRE(made->save(model, after(1)));
  test::wait_until([&] { return ends == 1; });
  CHECK(said.empty());
  made->collect();
  CHECK(said.size() == 1);
}

TEST_CASE_METHOD(SaverFixture, "a writer that crashes too often writes no more in this run",
                 "[trainer][saving]") {
  saver();
  REQUIRE(made->finish(model, after(1)).written);
  model.gate.throws = true;
  for (std::uint64_t batches = 2; batches <= 2 + CheckpointWriter::kRestarts; ++batches) {
    REQUIRE(made->save(model, after(batches)));
    static_cast<void>(made->fail_after(batches));  // Waits for it.
  }
  REQUIRE(said.size() == 1 + CheckpointWriter::kRestarts);
  const std::string last =
      "checkpoint not written (the last one stands): the reader broke; no more checkpoints of this "
      "run are written";
  CHECK(said.back() == last);
  model.gate.throws = false;
  CHECK(made->save(model, after(9)));  // As if begun: the run goes on.
  const auto ended = made->finish(model, after(10));
  CHECK(ended.batches_lost == 9);
  CHECK(ended.written.error().message == last);
  CHECK(said.size() == 1 + CheckpointWriter::kRestarts);
  CHECK(fs::path(ended.checkpoint).filename() == "checkpoint-000000001");
}

TEST_CASE("a link that was hashed for the checkpoint before is not read again",
          "[trainer][saving]") {
  const test::TempDir temp;
  const fs::path live = fs::path(temp.path()) / "live";
  fs::create_directory(live);
  std::ofstream(live / "000001.rows") << "rows";
  std::ofstream(live / "000002.rows") << "one";
  HeldSource::Gate gate;
  HeldSource source(gate, live);
  const auto write = [&](const char* name, const Manifest& previous) {
    const fs::path folder = fs::path(temp.path()) / name;
    fs::create_directory(folder);
    return write_folder(folder.string(), source, {{"a/b.json", "{}"}}, previous);
  };
  auto first = write("first", {});
  REQUIRE(first);
  CHECK(first->files.at("tables/000001.rows").bytes == 4);
  CHECK(first->files.at("tables/000001.rows").inode);
  CHECK_FALSE(first->files.at("a/b.json").inode);

  Manifest announced = *first;
  announced.files.at("tables/000001.rows").digest =
      Digest{1, 2}.hex();  // A value that shows that it is carried over.
  auto second = write("second", announced);
  REQUIRE(second);
  CHECK(second->files.at("tables/000001.rows").digest == Digest{1, 2}.hex());
  fs::remove(live / "000001.rows");
  std::ofstream(live / "000001.rows") << "more";  // Another file of the same name and size.
  auto third = write("third", announced);
  REQUIRE(third);
  CHECK(third->files.at("tables/000001.rows").digest != Digest{1, 2}.hex());

  auto from = FolderSource::open((fs::path(temp.path()) / "first").string(), *first);
  REQUIRE(from);
  const fs::path tables = fs::path(temp.path()) / "first" / "tables";
  CHECK(from->files_folder().value() == tables.string());
  CHECK(fs::hard_link_count(tables / "000001.rows") == 2);  // first, second
  REQUIRE(from->finish());

  std::ofstream(tables / "000002.rows") << "two";
  auto damaged = FolderSource::open((fs::path(temp.path()) / "first").string(), *first);
  const auto refused = damaged->files_folder();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kCorrupt);
  CHECK(refused.error().message.find("tables/000002.rows") != std::string::npos);
}

TEST_CASE_METHOD(SaverFixture,
                 "a link's digest is taken over from the checkpoint that was restored",
                 "[trainer][saving]") {
  const test::TempDir live;
  model.links = live.path();
  const auto save = [&](std::uint64_t batches, const char* rows) {
    std::ofstream(model.links / "000001.rows") << rows;  // The same file, judging by its inode.
    return fs::path(store.save(*model.snapshot().value(), after(batches)).value());
  };
  const auto restored = [&] {
    auto found = store.restore_last(model, [](const Checkpoint&) { return Status(); }).value();
    return found.checkpoint ? found.checkpoint->batches : 0;
  };
  const fs::path first = save(1, "rows");
  SECTION("not from a damaged one, since a new file may reuse an inode") {
    fs::remove(model.links / "000001.rows");
    fs::remove(save(2, "more") / "losses.json");
    std::uint64_t from = 1;
    SECTION("the one before it is restored") {}
    SECTION("the one before it is not restored") {
      fs::remove(first / "losses.json");
      from = 0;
    }
    REQUIRE(restored() == from);
    CHECK(read_checkpoint(save(3, "else").string(), Check::kDigests));
  }
  SECTION("unchanged files are not read again") {
    REQUIRE(restored() == 1);
    const auto again = read_checkpoint(save(2, "more").string(), Check::kDigests);
    REQUIRE_FALSE(again);
    CHECK(again.error().message.find("000001.rows") != std::string::npos);
  }
}

TEST_CASE("a checkpoint's parts are read in turns, piece by piece", "[trainer][saving]") {
  const test::TempDir temp;
  std::vector<float> weights = {1, 2, 3, 4};
  std::vector<float> moments = {5, 6, 7, 8};
  using Part = StateTensor::Part;
  auto source = snapshot_of_memory(
      {in_memory({.name = "w", .shape = {4}}, weights),
       in_memory({.name = "w", .part = Part::kOptimizer, .shape = {4}}, moments)});
  REQUIRE(source);
  auto written = write_folder(temp.path(), **source, {});
  REQUIRE(written);
  auto from = FolderSource::open(temp.path(), *written);
  REQUIRE(from);
  std::vector<float> read(8);
  for (std::size_t half = 0; half < 2; ++half) {
    for (std::size_t part = 0; part < 2; ++part) {
      const std::span to = std::span(read).subspan(4 * part + 2 * half, 2);
      REQUIRE(from->read(part, half * to.size_bytes(), std::as_writable_bytes(to)));
    }
  }
  REQUIRE(from->finish());
  CHECK(read == std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("a manifest names files below its folder, in a version that is known",
          "[trainer][saving]") {
  Manifest manifest;
  manifest.files["loader.json"] = {.bytes = 3, .digest = Digest{1, 2}.hex()};
  manifest.files["tables/1.rows"] = {.bytes = 4, .digest = Digest{3, 4}.hex(), .inode = 5};
  const std::string text = to_json(manifest);
  CHECK(parse_manifest(text, "m").value() == manifest);
  // A forged manifest with a valid digest of its content.
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    auto announced = nlohmann::json::parse(changed);
    announced.erase("digest");
    const std::string rest = announced.dump();
    announced["digest"] = Digest::of(rest.data(), rest.size()).hex();
    return parse_manifest(announced.dump(), "m").error();
  };
  for (const char* name : {"../x", "/x", "a/../../x", "", "a//b/."}) {
    CHECK(with("tables/1.rows", name).code == Code::kCorrupt);
  }
  CHECK(with("\"version\": 2", "\"version\": 1").code == Code::kInvalid);
  CHECK(with("\"version\": 2", "\"version\": 1").message.find("version 1") != std::string::npos);
  CHECK(with("\"inode\": 5", "\"inode\": -5").code == Code::kCorrupt);
  CHECK(with("\"bytes\": 3", "\"bytes\": 3.5").code == Code::kCorrupt);
  CHECK(parse_manifest(text.substr(0, text.size() / 2), "m").error().code == Code::kCorrupt);
  CHECK(parse_manifest(R"({"version": 2, "files": {}})", "m").error().code == Code::kCorrupt);
}

TEST_CASE("a manifest whose bytes changed is named damaged, not the files that it names",
          "[trainer][saving]") {
  Manifest manifest;
  manifest.files["loader.json"] = {.bytes = 3, .digest = Digest{1, 2}.hex()};
  const std::string text = to_json(manifest);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] ^= 1;
    const auto parsed = parse_manifest(changed, "m");
    CHECK((parsed ? *parsed == manifest : parsed.error().code == Code::kCorrupt));
  }
}

TEST_CASE("a folder's parts are read in any order, and each is checked", "[trainer][saving]") {
  const test::TempDir temp;
  std::vector<float> values(3000);
  std::iota(values.begin(), values.end(), 0.0f);
  std::vector<MemoryTensor> tensors;
  for (const auto part :
       {StateTensor::Part::kWeights, StateTensor::Part::kOptimizer, StateTensor::Part::kTables}) {
    for (const char* name : {"a", "b"}) {
      tensors.push_back(in_memory({.name = name, .part = part, .shape = {3000}}, values));
    }
  }
  const auto state = snapshot_of_memory(tensors).value();
  const auto manifest = write_folder(temp.path(), *state, {}).value();
  std::vector<float> got(3000);
  const auto read = [&](FolderSource& source, std::size_t index) {
    std::ranges::fill(got, 0.0f);
    return source.read(index, 0, std::as_writable_bytes(std::span(got)));
  };

  SECTION("tables, weights, and a tensor that was skipped before") {
    auto source = FolderSource::open(temp.path(), manifest).value();
    CHECK(source.files_folder().value().empty());
    REQUIRE(read(source, 5));
    CHECK(got == values);
    REQUIRE(read(source, 1));
    CHECK(got == values);
    CHECK(source.finish());
  }
  SECTION("a part is not read backwards") {
    auto source = FolderSource::open(temp.path(), manifest).value();
    REQUIRE(read(source, 1));
    CHECK(read(source, 0).error().code == Code::kCorrupt);
  }
  SECTION("a part that has changed is named, once the next one is read or at the end") {
    const std::string name = GENERATE("model", "optimizer", "tables");
    std::fstream file(temp.path(name + ".safetensors"),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('x');
    file.close();
    auto source = FolderSource::open(temp.path(), manifest).value();
    REQUIRE(read(source, 4));
    Status done = read(source, 0);
    CHECK(done.has_value() == (name != "tables"));
    if (done) done = source.finish();
    REQUIRE_FALSE(done);
    CHECK(done.error().code == Code::kCorrupt);
    CHECK_THAT(done.error().message, Catch::Contains(name + ".safetensors is damaged"));
  }
}
