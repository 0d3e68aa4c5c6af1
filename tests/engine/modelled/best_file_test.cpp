#include "engine/modelled/best_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

tuner::PipelineModel ordered_line() {
  tuner::PipelineModel model;
  model.name = "ordered";
  model.cpus = 4;
  model.memory_bytes = 1'000'000;
  model.trainer_step_seconds = 0.001;
  model.prefetch_splits = 8;
  model.stages = {{{.seconds = 0.05}, "load"}};
  model.stages[0].ordered = true;
  return model;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string kept_of(const std::string& pipeline) {
  const std::filesystem::path file(pipeline);
  return file.parent_path() / ".forebay" / (file.filename().string() + ".best.json");
}

}  // namespace

TEST_CASE("what was found is kept in .forebay, under the world's digest", "[tools][modelled]") {
  const test::TempDir folder;
  const std::string path = folder.path() + "/p.toml";
  const tuner::PipelineModel model = ordered_line();
  const tuner::BestKnown best = BestFile(path).find(model);
  CHECK(best.splits_per_second == Approx(80).epsilon(0.01));
  const std::string kept = text_of(kept_of(path));
  REQUIRE(kept.find(digest_of(model)) != std::string::npos);
  // Nothing else is put beside the pipeline's file, which is not there itself in this test.
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    CHECK(entry.path().filename() == ".forebay");
  }
  // A kept figure is believed, so a second search is not made.
  std::string other = kept;
  const std::size_t at = other.find("\"splits_per_second\": ") + 21;
  other.replace(at, other.find(',', at) - at, "12.5");
  std::ofstream(kept_of(path)) << other;
  CHECK(BestFile(path).find(model).splits_per_second == 12.5);
  tuner::PipelineModel slower = model;
  slower.stages[0].seconds = 0.1;
  CHECK(digest_of(slower) != digest_of(model));
  CHECK(BestFile(path).find(slower).splits_per_second == Approx(40).epsilon(0.01));
}

TEST_CASE("a kept file that is damaged or of something else is not believed", "[tools][modelled]") {
  const test::TempDir folder;
  const std::string path = folder.path() + "/p.toml";
  const tuner::PipelineModel model = ordered_line();
  std::filesystem::create_directory(folder.path() + "/.forebay");
  const std::string entry = "{\"version\":2,\"best\":[{\"digest\":\"" + digest_of(model) +
                            "\",\"splits_per_second\":7,\"prefetch\":1,\"actors\":";
  for (const std::string& text :
       {std::string("{"), std::string("[]"), entry + "[]}]}", entry + "[0]}]}", entry + "[1,1]}]}",
        entry + "[500]}]}", entry + "[1]}],\"more\":1}"}) {
    std::ofstream(kept_of(path)) << text;
    INFO(text);
    CHECK(BestFile(path).find(model).splits_per_second > 70);
  }
  std::ofstream(kept_of(path)) << entry + "[1]}]}";
  CHECK(BestFile(path).find(model).splits_per_second == 7);
}

TEST_CASE("where nothing can be kept the result is the same, and the reason is told",
          "[tools][modelled]") {
  BestFile file("/proc/no/such/p.toml");
  CHECK(file.find(ordered_line()).splits_per_second == Approx(80).epsilon(0.01));
  CHECK_FALSE(file.kept());
}

}  // namespace forebay
