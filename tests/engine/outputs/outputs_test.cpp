#include "engine/outputs/outputs.h"

#include <algorithm>
#include <filesystem>

#include "engine/outputs/job_files.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;
using Kind = Output::Kind;

/// A folder with a data file, its links, and a checkpoint.
struct Folder {
  Folder() {
    inputs.add_file("dataset.paths", data);
    fs::create_symlink("day_0.tsv", dir.path("link"));
    fs::create_hard_link(data, dir.path("hard"));
    dir.write("checkpoints/checkpoint-000000004/manifest.json", "");
    inputs.checkpoints.push_back(dir.path("checkpoints"));
  }

  Status check(const std::vector<Output>& outputs) const {
    return check_outputs(outputs, inputs, [this] { return others; });
  }
  /// The reason for which a file is refused; "" where it is accepted.
  std::string refusal_of(const Output& output) const {
    const Status status = check({output});
    if (!status) CHECK(status.error().code == Code::kInvalid);
    return status ? "" : status.error().message;
  }
  std::string refusal(const std::string& name) const {
    return refusal_of({.name = "--dump", .path = dir.path(name)});
  }

  const test::TempDir dir;
  const std::string data = dir.write("day_0.tsv", "rows");
  Inputs inputs;
  std::vector<RunningInputs> others;
};

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE_METHOD(Folder, "an output that is an input by any link is refused by both names",
                 "[tools][outputs]") {
  CHECK(refusal("day_0.tsv") ==
        "--dump " + data + " is an input (dataset.paths); give --dump " + "another file");
  for (const char* name : {"link", "hard"}) {
    CHECK(refusal(name) == "--dump " + dir.path(name) + " is the same file as " + data +
                               ", an input (dataset.paths); give --dump another file");
  }
  fs::create_symlink(".", dir.path("here"));
  CHECK(mentions(refusal("here/day_0.tsv"), "an input"));
}

TEST_CASE_METHOD(Folder, "an output that is new, or a device, is no input", "[tools][outputs]") {
  CHECK(refusal("new") == "");
  dir.write("old", "");
  CHECK(refusal("old") == "");
  for (const char* device : {"/dev/null", "/dev/full"}) {
    CHECK(refusal_of({.name = "--dump", .path = device}) == "");
  }
  CHECK(check({{.name = "--dump", .path = "/dev/null"}, {.name = "--state", .path = "/dev/null"}}));
}

TEST_CASE_METHOD(Folder, "the name that an output is first written to must be no input either",
                 "[tools][outputs]") {
  inputs.add_file("dataset.paths", dir.write("state.partial", "rows"));
  const Output state{.name = "--state", .path = dir.path("state"), .aside = ".partial"};
  CHECK(mentions(refusal_of(state), dir.path("state.partial") + " is an input"));
}

TEST_CASE_METHOD(Folder, "a state may be written over the one that was resumed from",
                 "[tools][outputs]") {
  const std::string state = dir.write("state.json", "{}");
  inputs.add_file("--resume", state);
  Output output{.name = "--state", .path = state, .aside = ".partial"};
  CHECK(mentions(refusal_of(output), "an input (--resume)"));
  output.replaces = "--resume";
  CHECK(refusal_of(output) == "");
  output.path = state.substr(0, state.size() - 5);
  output.aside = ".json";  // A kill while it is written would leave no state.
  CHECK(mentions(refusal_of(output), "an input (--resume)"));
  output.path = data;
  CHECK(mentions(refusal_of(output), "an input (dataset.paths)"));
}

TEST_CASE_METHOD(Folder, "an output that is a part of a checkpoint, or lies in one, is refused",
                 "[tools][outputs]") {
  const std::string part = "checkpoints/checkpoint-000000004/manifest.json";
  fs::create_hard_link(dir.path(part), dir.path("part"));
  CHECK(mentions(refusal("part"), "an input (a checkpoint)"));
  CHECK(mentions(refusal(part), "an input (a checkpoint)"));
  CHECK(mentions(refusal("checkpoints/checkpoint-000000004/new"), "a checkpoint"));
  CHECK(mentions(refusal_of({.name = "trainer.tensorboard",
                             .path = dir.path("checkpoints/checkpoint-000000004"),
                             .kind = Kind::kFolder}),
                 "another folder"));
  // A name that the checkpoint store will write, or remove.
  CHECK(mentions(refusal("checkpoints/checkpoint-000000005"), "a checkpoint's name"));
  CHECK(mentions(refusal("checkpoints/.tmp-old-checkpoint-000000005"), "a checkpoint's name"));
  CHECK(refusal("checkpoints/dump.tsv") == "");
  // Of another job that is not running.
  dir.write("other/checkpoint-000000001/manifest.json", "");
  CHECK(mentions(refusal("other/checkpoint-000000001/new"), "a checkpoint"));
  dir.write("other/checkpoint-000000002/notes", "");
  CHECK(refusal("other/checkpoint-000000002/new") == "");
  inputs.folders.push_back(dir.path("other"));
  CHECK(mentions(refusal("other/new"), "which this command reads"));
}

TEST_CASE_METHOD(Folder, "an output that another process reads is refused, naming the process",
                 "[tools][outputs]") {
  dir.write("theirs", "");
  RunningInputs other{.process = 7, .inputs = {}};
  other.inputs.add_file("dataset.paths", dir.path("theirs"));
  others.push_back(other);
  CHECK(refusal("theirs") == "--dump " + dir.path("theirs") +
                                 " is an input of process 7 (dataset.paths); wait for it to end, " +
                                 "or give --dump another file");
  SECTION("a file that replaced the input is accepted") {
    dir.write("new", "");
    fs::rename(dir.path("theirs"), dir.path("moved"));
    fs::rename(dir.path("new"), dir.path("theirs"));
    CHECK(refusal("theirs") == "");
    CHECK(refusal("moved") == "");
  }
  SECTION("checkpoints that it has by now are refused, too") {
    others[0].inputs.checkpoints.push_back(dir.path("others"));
    const std::string made = dir.write("others/checkpoint-000000009/model", "");
    fs::create_hard_link(made, dir.path("hard-model"));
    CHECK(mentions(refusal("hard-model"), "an input of process 7 (a checkpoint)"));
  }
}

TEST_CASE_METHOD(Folder, "two outputs that are one file are refused by both names",
                 "[tools][outputs]") {
  const auto both = [&](const std::string& dump, const std::string& state) {
    const Status status =
        check({{.name = "--dump", .path = dir.path(dump)},
               {.name = "--state", .path = dir.path(state), .aside = ".partial"}});
    if (!status) {
      CHECK(mentions(status.error().message,
                     "--state " + dir.path(state) + " is the same file as --dump"));
    }
    return status.has_value();
  };
  CHECK(both("out", "other"));
  CHECK_FALSE(both("out", "out"));
  CHECK_FALSE(both("out", "./out"));
  CHECK_FALSE(both("out.partial", "out"));
  fs::create_symlink("out", dir.path("to-out"));  // Where no file exists yet.
  CHECK_FALSE(both("to-out", "out"));
  fs::create_hard_link(dir.write("one", ""), dir.path("two"));
  CHECK_FALSE(both("one", "two"));
}

TEST_CASE_METHOD(Folder, "a folder is no file and a file is no folder", "[tools][outputs]") {
  CHECK(mentions(refusal("checkpoints"), "is a folder; give --dump another file"));
  dir.write("old", "");
  Output folder{.name = "trainer.tensorboard", .path = dir.path("old"), .kind = Kind::kFolder};
  CHECK(mentions(refusal_of(folder), "is no folder; give trainer.tensorboard another folder"));
  folder.path = dir.path("made");
  CHECK(refusal_of(folder) == "");
  folder.path = dir.path();  // The folder of the data.
  CHECK(refusal_of(folder) == "");
}

TEST_CASE_METHOD(Folder, "an input in a folder that runs sweep is refused", "[tools][outputs]") {
  dir.write("run/spill/old", "");
  const Output swept{.name = "run.dir", .path = dir.path("run/spill"), .kind = Kind::kSweptFolder};
  CHECK(check({swept, {.name = "--dump", .path = dir.path("run/new")}}));
  CHECK_FALSE(check({swept, {.name = "--dump", .path = dir.path("run/spill/new")}}));
  SECTION("an input") {
    inputs.add_file("dataset.paths", dir.path("run/spill/old"));
    const Status status = check({swept});
    REQUIRE_FALSE(status);
    CHECK(mentions(status.error().message, "run/spill/old lies in " + dir.path("run/spill")));
  }
  SECTION("a link that is an input") {
    fs::create_symlink(data, dir.path("run/spill/link"));
    inputs.add_file("dataset.paths", dir.path("run/spill/link"));
    CHECK_FALSE(check({swept}));
  }
  SECTION("data that has a checkpoint's name") {
    const Output store{
        .name = "trainer.checkpoint", .path = dir.path("checkpoints"), .kind = Kind::kCheckpoints};
    CHECK(check({store}));
    inputs.add_file("dataset.paths", dir.write("checkpoints/day_1.tsv", ""));
    CHECK(check({store}));
    inputs.add_file("dataset.paths", dir.write("checkpoints/checkpoint-000000009/day_2.tsv", ""));
    CHECK_FALSE(check({store}));
  }
}

TEST_CASE("a job reads its data, its file, keys, libraries and checkpoints", "[tools][outputs]") {
  const test::TempDir dir;
  JobSpec job;
  job.path = dir.write("job.toml", "");
  job.base_dir = dir.path();
  job.dataset.paths = {"data/*.tsv", "none*.tsv"};
  job.trainer.evaluate = {"evaluate.tsv"};
  job.cluster.keys = dir.path("keys");
  job.trainer.checkpoint = dir.path("checkpoints");
  job.transforms.push_back(
      {.op = "udf", .columns = {}, .params = {{"library", dir.write("libours.so", "")}}});
  for (const char* name : {"data/a.tsv", "data/b.tsv", "evaluate.tsv", "keys/server.key_secret",
                           "keys/clients/node.key", "data/other"}) {
    dir.write(name, "");
  }
  const Inputs inputs = inputs_of(job);
  std::vector<std::string> found;
  for (const InputEntry& entry : inputs.files) {
    found.push_back(entry.role + " " + entry.path.substr(dir.path().size() + 1));
  }
  std::ranges::sort(found);
  CHECK(found == std::vector<std::string>{
                     "a transform's library libours.so", "cluster.keys keys/clients/node.key",
                     "cluster.keys keys/server.key_secret", "dataset.paths data/a.tsv",
                     "dataset.paths data/b.tsv", "the job file job.toml",
                     "trainer.evaluate evaluate.tsv"});
  CHECK(inputs.checkpoints == std::vector<std::string>{dir.path("checkpoints")});
}

}  // namespace forebay
