#include <memory>
#include <string>

#include "tests/actors/dataset_run.h"
#include "tests/actors/source/packed.h"
#include "tests/support/memory_file_system.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

std::string criteo_rows(int first, int count) {
  std::string text;
  for (int i = first; i < first + count; ++i) {
    text += i % 3 == 0 ? "1\t" : "0\t";
    text += std::to_string(i);
    for (int column = 2; column <= 39; ++column) text += column < 14 ? "\t7" : "\tdeadbeef";
    text += '\n';
  }
  return text;
}

std::unique_ptr<Dataset> opened(const std::string& paths, const DatasetOptions& options) {
  DatasetSpec spec;
  spec.paths = {paths};
  auto dataset = open_dataset(spec, {}, options);
  INFO((dataset ? "" : dataset.error().message));
  REQUIRE(dataset);
  return std::move(*dataset);
}

// Returns the digest of the order of all rows of two shuffled epochs.
Digest order_digest(const Dataset& dataset) {
  const test::DatasetRun run =
      test::run_dataset(dataset, {.order = {.epochs = 2, .batch_size = 100}});
  CHECK(run.end.rows == 2 * dataset.rows());
  return run.digest();
}

TEST_CASE("rows of a dataset in memory come in the order of the same bytes on disk",
          "[actors][order]") {
  const std::string content = criteo_rows(0, 5000);
  std::string stored = content;
  std::string name = "day_0.tsv";
  SECTION("plain") {}
  SECTION("gzip") {
    name += ".gz";
    stored = test::gzip_members(content, 300'000);
  }
  SECTION("zstd") {
    name += ".zst";
    stored = test::zstd_frames(content, 300'000);
  }
  const test::TempDir folder;
  const auto memory = std::make_shared<test::MemoryFileSystem>();
  folder.write("data/" + name, stored);
  folder.write("data/day_1.tsv", criteo_rows(5000, 700));
  memory->write("memory://" + name, stored);
  memory->write("memory://day_1.tsv", criteo_rows(5000, 700));
  DatasetOptions options;
  options.base_dir = folder.path();
  options.run_dir = folder.path("run");
  options.file_systems.add("memory://", memory);
  const auto on_disk = opened("data/*", options);
  const auto in_memory = opened("memory://*", options);
  CHECK(in_memory->fingerprint() == on_disk->fingerprint());
  CHECK(order_digest(*in_memory) == order_digest(*on_disk));
}

}  // namespace
}  // namespace forebay
