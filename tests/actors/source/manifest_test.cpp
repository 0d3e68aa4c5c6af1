#include "actors/source/manifest.h"

#include <filesystem>
#include <string>
#include <vector>

#include "tests/actors/source/dataset_folder.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Lines = std::vector<std::string>;

TEST_CASE("the change since another fingerprint is reported by file", "[actors][source]") {
  test::DatasetFolder folder;
  folder.write("a.tsv", "0,1\n");
  folder.write("b.tsv", "1,2\n");
  folder.write("c.tsv", "1,3\n");
  const Digest before = folder.opened({"*.tsv"})->fingerprint();
  const auto lines = [&](const std::vector<std::string>& paths) {
    return changed_files(folder.options.run_dir, before, *folder.opened(paths));
  };

  CHECK(lines({"*.tsv"}).value() == Lines{});
  CHECK(lines({"b.tsv", "a.tsv", "c.tsv"}).value() == Lines{"the files come in another order"});
  folder.write("b.tsv", "1,4\n");
  folder.write("d.tsv", "1,5\n");
  std::filesystem::remove(folder.path("c.tsv"));
  CHECK(lines({"*.tsv"}).value() ==
        Lines{"b.tsv has other content", "d.tsv was added", "c.tsv is gone"});
}

TEST_CASE("a fingerprint without a record is not found", "[actors][source]") {
  test::DatasetFolder folder;
  folder.write("a.tsv", "0,1\n");
  const auto dataset = folder.opened({"a.tsv"});
  auto unknown = changed_files(folder.options.run_dir, {.high = 1, .low = 2}, *dataset);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == Code::kNotFound);

  const std::string path = ".forebay/index/dataset-" + dataset->fingerprint().hex() + ".json";
  for (const std::string damaged :
       {"", "[", "{}", R"({"files": [1]})", R"({"files": [{"name": 1}]})"}) {
    folder.write(path, damaged);
    CHECK_FALSE(changed_files(folder.options.run_dir, dataset->fingerprint(), *dataset));
  }
}

}  // namespace
}  // namespace forebay
