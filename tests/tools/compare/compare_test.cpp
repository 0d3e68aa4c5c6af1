#include <fstream>
#include <sstream>

#include "tests/support/temp_dir.h"
#include "tools/compare/compare_result.h"
#include "tools/compare/compare_spec.h"
#include "tools/compare/report.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("a table is aligned for a terminal and escaped for pages", "[tools][compare]") {
  const Table table{"T", {"name", "n"}, {{"a|<b>", "1"}, {"x", "22"}}};
  CHECK(text_of(table) == "T\n  name   n\n  a|<b>  1\n  x      22\n");
  CHECK(markdown_of(table).find("| a\\|<b> | 1 |\n") != std::string::npos);
  CHECK(html_of(table).find("<td>a|&lt;b&gt;</td>") != std::string::npos);
  CHECK(text_of(Table{"T", {"name"}}).empty());
}

TEST_CASE("a CSV field is quoted where it has to be", "[tools][compare]") {
  CHECK(csv_field("plain text") == "plain text");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("say \"a\"") == "\"say \"\"a\"\"\"");
}

TEST_CASE("a list of policies has no holes and no repeats", "[tools][compare]") {
  CHECK(split_policies("max").value() == Names{"max"});
  CHECK(split_policies("greedy,intune:no-network").value() == Names{"greedy", "intune:no-network"});
  for (const char* wrong : {"", "max,", ",max", "max,,one", "max,one,max"}) {
    INFO(wrong);
    CHECK_FALSE(split_policies(wrong));
  }
}

TEST_CASE("policies that never move and the oracle are not compared by default",
          "[tools][compare]") {
  const Names usual = usual_policies();
  CHECK(std::ranges::count(usual, "greedy") == 1);
  for (const char* left_out : {"static", "one", "oracle"}) {
    CHECK(std::ranges::count(usual, left_out) == 0);
  }
}

TEST_CASE("figures that no run has are dashes in the table, not zeros", "[tools][compare]") {
  ComparisonResult result;
  tuner::PolicySummary& summary = result.summaries.emplace_back();
  summary.policy = "max";
  summary.ratio_overall = {.mean = 0.5, .median = 0.5, .p5 = 0.5};
  const Table without = summary_table(result);
  CHECK(Names(without.rows[0].begin(), without.rows[0].begin() + 7) ==
        Names{"max", "0.500", "0.500", "0.500", "-", "-", "-"});
  summary.ratio_after_30 = summary.ratio_overall;
  CHECK(summary_table(result).rows[0].size() == without.header.size());
  CHECK(summary_table(result).rows[0][4] == "0.500");
}

TEST_CASE("a line of the trace holds the figures of a period and of the oracle",
          "[tools][compare]") {
  ComparisonResult result;
  tuner::ComparedRun& run = result.runs.emplace_back();
  run.pipeline = "p";
  run.policy = "max";
  run.record.trace.oracle = {
      {.from_seconds = 0, .splits_per_second = 10, .actors = 3, .memory_bytes = 1000}};
  run.record.trace.periods.resize(1);
  tuner::Period& period = run.record.trace.periods[0];
  period.decision = 4;
  period.begin_seconds = 8;
  period.end_seconds = 10;
  period.trained = 15;
  period.actors = {1, 2};
  period.prefetch = 6;
  period.cpus_busy = 2.5;
  period.memory_bytes = 70;
  period.memory_peak = 80;
  tuner::PipelineModel model;
  model.name = "p";
  model.stages.resize(2);
  model.stages[0].name = "load";
  model.stages[1].name = "udf";
  std::istringstream lines(trace_csv(result, {model}));
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  CHECK(line == "p,max,1,4,8,10,15,7.5,10,2.5,70,80,1000,6,3,load=1 udf=2");
}

TEST_CASE("a report's folder is created, recognized again, and not taken from other programs",
          "[tools][compare]") {
  const test::TempDir folder;
  const std::string mine = folder.path() + "/deep/report";
  CHECK(prepare_report(mine));
  std::ofstream(mine + "/runs.csv") << "old";
  CHECK(prepare_report(mine));  // its report.md names its program
  const std::string other = folder.path() + "/other";
  CHECK(prepare_report(other));
  std::ofstream(other + "/report.md") << "# Notes\n";
  const auto refused = prepare_report(other);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("report.md") != std::string::npos);
}

TEST_CASE("plots are named after the pipelines in the order given", "[tools][compare]") {
  const auto plots = plots_of({"summary.svg", "01.svg", "03.svg"}, {"a", "b", "c"});
  REQUIRE(plots.size() == 3);
  CHECK(plots[0].title == "All policies");
  CHECK(plots[1].title == "Pipeline a");
  CHECK(plots[2].title == "Pipeline c");
  CHECK(plots[2].file == "plots/03.svg");
}

}  // namespace
}  // namespace forebay
