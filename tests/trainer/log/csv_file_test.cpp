#include <fstream>
#include <iterator>

#include "tests/support/temp_dir.h"
#include "trainer/log/run_log.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

struct CsvFixture {
  test::TempDir folder;
  std::string path = folder.path() + "/run.csv";
  std::string header{CsvFile::kHeader};

  std::string content() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& text) const { std::ofstream(path, std::ios::binary) << text; }
};

}  // namespace

TEST_CASE_METHOD(CsvFixture, "a line has a field a figure, empty where there is none",
                 "[trainer][log]") {
  put("what an earlier run left");
  auto csv = CsvFile::begin(path);
  REQUIRE(csv);
  REQUIRE(csv->write({.step = 100, .epoch = 2, .rows = 51200, .loss = 0.1, .starved_ratio = 0.5}));
  REQUIRE(csv->write({.step = 100, .epoch = 2, .rows = 51200, .auc = 0.75, .calibration = 1.25}));
  CHECK(content() == header + "100,2,51200,0.1,,,0.5,,,,\n" + "100,2,51200,,,,,0.75,,,1.25\n");
}

TEST_CASE_METHOD(CsvFixture, "a resumed run cuts off the lines after its step and goes on",
                 "[trainer][log]") {
  put(header + "10,a\n20,b\n20,c\n30,d\n40,e\n5");
  auto csv = CsvFile::resume(path, 25, true);
  REQUIRE(csv);
  CHECK(content() == header + "10,a\n20,b\n20,c\n");
  REQUIRE(csv->write({.step = 30}));
  CHECK(content() == header + "10,a\n20,b\n20,c\n30,0,0,,,,,,,,\n");
}

TEST_CASE_METHOD(CsvFixture, "a resumed run without a table begins one", "[trainer][log]") {
  SECTION("no file") {}
  SECTION("an empty file") { put(""); }
  REQUIRE(CsvFile::resume(path, 25, true));
  CHECK(content() == header);
}

TEST_CASE_METHOD(CsvFixture, "a table of something else is refused and stays", "[trainer][log]") {
  put("step,loss\n1,2\n");
  auto refused = CsvFile::resume(path, 25, true);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("trainer.csv") != std::string::npos);
  CHECK(content() == "step,loss\n1,2\n");
  CHECK_FALSE(CsvFile::resume(folder.path(), 1, true));
  CHECK_FALSE(CsvFile::begin("/proc/run.csv"));
}

TEST_CASE("a table is kept up to the first later or invalid line", "[trainer][log]") {
  CHECK(kept_bytes("step\n", 9, true) == 5);
  CHECK(kept_bytes("step\n7,x\n", 9, true) == 9);
  CHECK(kept_bytes("step\n9,x\n", 9, true) == 9);
  CHECK(kept_bytes("step\n10,x\n9,x\n", 9, true) == 5);
  CHECK(kept_bytes("step\n7,x\n8,", 9, true) == 9);
  CHECK(kept_bytes("step\n7,x\nseven,y\n8,z\n", 9, true) == 9);
  CHECK(kept_bytes("step\n7\n", 9, true) == 5);
  CHECK(kept_bytes("step\n\n", 9, true) == 5);
}

TEST_CASE("an evaluation that is repeated is dropped, a known one is kept", "[trainer][log]") {
  const std::string head = "step\n8,0,1,,,,,0.5\n9,0,2,0.7,,\n";
  CHECK(kept_bytes(head + "9,0,2,,,,,0.5\n", 9, false) == head.size());
  CHECK(kept_bytes(head + "9,0,2,,,,,0.5\n", 9, true) == head.size() + 14);
  CHECK(kept_bytes(head, 9, false) == head.size());
  CHECK(kept_bytes("step\n9,0\n", 9, false) == 9);
}
