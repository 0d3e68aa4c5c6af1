#include "engine/outputs/inputs.h"

#include <filesystem>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("a list of inputs with any paths is decoded as it was encoded", "[tools][outputs]") {
  const test::TempDir dir;
  Inputs inputs;
  inputs.add_file("dataset.paths", dir.write("a\nb\tc", ""));
  inputs.add_file("the job file", dir.write("job.toml", ""));
  inputs.add_file("dataset.paths", dir.path("none"));
  inputs.add_file("--resume", "");
  inputs.add_file("--hosts", "/dev/null");
  inputs.add_folder("the checkpoint", dir.path());
  inputs.checkpoints.push_back(dir.path("checkpoints"));
  REQUIRE(inputs.files.size() == 4);  // Two by name, and the same two as files of the folder.
  CHECK(inputs.files[0].path == dir.path("a\nb\tc"));
  CHECK(parse_inputs(to_bytes(inputs)).value() == inputs);
}

TEST_CASE("a list of inputs that is cut short gives its whole records, other bytes are refused",
          "[tools][outputs]") {
  const std::string first("f1 2 role\t/a\0", 13);
  const std::string second("f3 4 role\t/b\0", 13);
  const auto cut = parse_inputs((first + second).substr(0, 20));
  REQUIRE(cut);
  CHECK(cut->files == std::vector<InputEntry>{{{1, 2}, "role", "/a"}});
  for (const char* bad : {"x/a", "f1 2 role/a", "f1 role\t/a", "f1x2 3 role\t/a", "f-1 2 role\t/a",
                          "f", "", "f99999999999999999999 2 role\t/a"}) {
    INFO(bad);
    const auto refused = parse_inputs(first + bad + std::string(1, '\0'));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kCorrupt);
  }
}

TEST_CASE("files of checkpoints are those that the directory holds when it is asked",
          "[tools][outputs]") {
  const test::TempDir dir;
  Inputs inputs;
  inputs.checkpoints.push_back(dir.path());
  CHECK(with_checkpoint_files(inputs).files.empty());
  dir.write("checkpoint-000000007/manifest.json", "");
  dir.write("checkpoint-000000007/tables/1.rows", "");
  dir.write("dump.tsv", "");
  CHECK(with_checkpoint_files(inputs).files.size() == 2);
}

}  // namespace forebay
