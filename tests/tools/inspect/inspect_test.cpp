#include "tools/inspect/inspect.h"

#include "actors/loader_state.h"
#include "tests/support/temp_dir.h"
#include "tools/inspect/text_table.h"
#include "trainer/saving/checkpoint.h"
#include "trainer/saving/durable_file.h"
#include "tuner/log/decision_log.h"

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("a file's kind is recognized by its content, whatever its name", "[tools][inspect]") {
  const test::TempDir dir;
  const std::string row = "1" + std::string(39, '\t') + "\n";
  const std::string quarantine = "file\tbyte_offset\tline\treason\ttext\na\t1\t2\tbad \"x\"\tx\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {row + row + "damaged\n", "criteo_tsv"},
      {"a,b\n1,2\n", "csv"},
      {"batch\tlabel\tI1\n0\t1\t2\n", "dump"},
      {to_json(LoaderState()), "state"},
      {R"({"fingerprint": "f", "files": [{"name": "a", "bytes": 3, "digest": "d"}]})", "dataset"},
      {quarantine, "quarantine"},
      {tuner::to_line(tuner::LogHeader()) + "\n", "decisions"},
      {"[dataset]\npaths = [\"a,b\", \"c,d\"]\n", "job"},
  };
  for (const auto& [content, kind] : cases) {
    CAPTURE(kind);
    const auto report = inspect_path(dir.write("file", content));
    REQUIRE(report);
    CHECK(report->json.text().find("\"kind\":\"" + kind + "\"") != std::string::npos);
  }
}

TEST_CASE("a file of unknown kind is refused by name", "[tools][inspect]") {
  const test::TempDir dir;
  for (const std::string& content : {std::string("once"),
                                     std::string("\x7f"
                                                 "ELF\0\0\0\0\0\0\0\0",
                                                 12),
                                     std::string(100, '\0')}) {
    const std::string path = dir.write("file", content);
    const auto refused = inspect_path(path);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kInvalid);
    CHECK(refused.error().message.starts_with(path + ": not a data file"));
  }
  CHECK(inspect_path(dir.path("none")).error().code == Code::kNotFound);
  CHECK(inspect_path(dir.write("empty", "")).error().message.ends_with("is empty"));
  CHECK(inspect_path(dir.path()).error().message.find("no checkpoint") != std::string::npos);
}

TEST_CASE("a file of a checkpoint is whole or damaged, whatever it holds", "[tools][inspect]") {
  const test::TempDir dir;
  const std::string name = GENERATE("model.json", "model.safetensors", "tables/7.rows");
  RunningDigest digest;
  digest.add("{}", 2);
  Manifest manifest;
  manifest.files[name] = {.bytes = 2, .digest = digest.finish().hex(), .inode = {}};
  const std::string listed = dir.write("manifest.json", to_json(manifest));
  const std::string path = dir.write(name, "{}");
  CHECK(inspect_path(listed).value().title == "manifest of a checkpoint: 1 file, 2 B");
  CHECK(inspect_path(path).value().title == "of a checkpoint, whole, 2 B");
  dir.write(name, "[]");
  const auto damaged = inspect_path(path);
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().code == Code::kCorrupt);
  CHECK_THAT(damaged.error().message, Catch::Contains(name + " is damaged"));
  // A file that the manifest does not list is recognised by its own content.
  CHECK(inspect_path(dir.write("other", "once")).error().code == Code::kInvalid);
}

TEST_CASE("reasons of damage are counted without the values in them", "[tools][inspect]") {
  CHECK(kind_of_damage("column I3: \"x\\\"y\" is not an integer") ==
        "column I3: \"…\" is not an integer");
  CHECK(kind_of_damage("41 fields") == "41 fields");
  CHECK(kind_of_damage("a \" alone") == "a \" alone");
}

TEST_CASE("columns are aligned, also with characters beyond ASCII", "[tools][inspect]") {
  const auto lines = align_columns({{"op", "x", "does"}, {"≥ 1", "yy", "z"}});
  CHECK(lines == std::vector<std::string>{"op   x   does", "≥ 1  yy  z"});
}

TEST_CASE("every transform is listed, with a rule for missing values", "[tools][inspect]") {
  CHECK(op_lines().size() == op_objects().size() + 1);
  for (const JsonObject& op : op_objects()) {
    CAPTURE(op.text());
    CHECK(op.text().find("\"missing\":\"\"") == std::string::npos);
    CHECK(op.text().find("\"summary\":\"\"") == std::string::npos);
  }
}

}  // namespace forebay
