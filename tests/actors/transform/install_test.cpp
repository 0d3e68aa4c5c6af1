#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "actors/transform/transform.h"
#include "tests/actors/transform/columns_fixture.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::Columns;
using test::Lists;

/// Runs CMake; shows its output when it fails.
void cmake(const test::TempDir& folder, const std::string& arguments) {
  const std::string log = folder.path("log");
  const std::string command = FOREBAY_CMAKE " " + arguments + " >'" + log + "' 2>&1";
  const int status = std::system(command.c_str());
  std::ifstream file(log);
  INFO(command << "\n" << std::string(std::istreambuf_iterator<char>(file), {}));
  REQUIRE(status == 0);
}

TransformSpec udf(const std::string& library, const std::string& function,
                  const std::vector<std::string>& columns,
                  std::map<std::string, ParamValue> params) {
  params.emplace("library", library);
  params.emplace("function", function);
  return {"udf", columns, std::move(params)};
}

TEST_CASE("the example builds from the installed package and runs", "[actors][udf][slow]") {
  const test::TempDir folder;
  const std::string prefix = folder.path("prefix");
  const std::string build = folder.path("build");
  cmake(folder, "--install '" FOREBAY_BUILD "' --prefix '" + prefix + "' --component udf");
  cmake(folder, "-G '" FOREBAY_GENERATOR "' -S '" FOREBAY_SOURCE "/examples/udf' -B '" + build +
                    "' -DCMAKE_CXX_COMPILER='" FOREBAY_COMPILER "' -DCMAKE_PREFIX_PATH='" + prefix +
                    "'");
  cmake(folder, "--build '" + build + "'");
  const std::string library = folder.path("build/libmine.so");

  Columns columns(3);
  columns.dense("a", {1, 6, missing_value()}).dense("b", {4, 0, 2}).sparse("c", {{1, 9}, {}, {3}});
  REQUIRE(columns.apply(
      {udf(library, "ratio", {"a", "b"}, {{"new_dense", std::vector<std::string>{"ratio"}}}),
       udf(library, "keep_below", {"c"}, {{"params", std::string("4")}})}));
  CHECK(columns.dense_values(2) == std::vector<float>{0.25F, 0, 0});
  CHECK(columns.lists(0) == Lists{{1}, {}, {3}});

  Columns ids(1);
  ids.sparse("c", {{1}});
  const auto no_number =
      ids.apply({udf(library, "keep_below", {"c"}, {{"params", std::string("4x")}})});
  REQUIRE_FALSE(no_number);
  CHECK(no_number.error().message.ends_with(
      "params is \"4x\", but must be a whole number, such as \"1000000\""));

  Columns negative(2);
  negative.dense("a", {1, -1});
  const auto failed = negative.apply({udf(library, "no_negatives", {"a"}, {})});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message ==
        "[[transform]] number 1 (udf): no_negatives: clicks.tsv, row at byte 100: a is negative");
}

}  // namespace
}  // namespace forebay
