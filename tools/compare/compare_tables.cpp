#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text/text.h"
#include "engine/job/quantity.h"
#include "tools/compare/compare_result.h"
#include "tools/inspect/text_table.h"

namespace forebay {
namespace {

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + replaced(cell, "|", "\\|") + " |";
  return line + "\n";
}

std::string html_row(const std::vector<std::string>& cells, const std::string& tag) {
  std::string line = "<tr>";
  for (const std::string& cell : cells) {
    line.append("<").append(tag).append(">");
    line.append(html_escaped(cell)).append("</").append(tag).append(">");
  }
  return line + "</tr>\n";
}

using tuner::ComparedRun;
using tuner::Distribution;
using tuner::PolicySummary;

std::string percent(double share) { return format_number(100 * share, 0) + " %"; }

std::string decisions(const std::optional<double>& median) {
  return median ? format_number(*median, 0) : "never";
}

std::string micros(double seconds) { return format_number(seconds * 1e6, 0) + " us"; }

void add_distribution(std::vector<std::string>& row, const std::optional<Distribution>& values) {
  if (!values) {
    row.insert(row.end(), 3, "-");
    return;
  }
  for (const double value : {values->mean, values->median, values->p5}) {
    row.push_back(format_number(value, 3));
  }
}

/// The runs of one pipeline and policy, which share a row.
struct Cell {
  std::vector<const ComparedRun*> runs;

  template <class Value>
  double mean(Value value) const {
    double sum = 0;
    for (const ComparedRun* run : runs) sum += static_cast<double>(value(*run));
    return sum / static_cast<double>(runs.size());
  }
  std::uint64_t peak() const {
    std::uint64_t most = 0;
    for (const ComparedRun* run : runs) most = std::max(most, run->figures.memory_peak);
    return most;
  }
  std::ptrdiff_t dead() const {
    return std::ranges::count(runs, true, &ComparedRun::out_of_memory);
  }
};

std::vector<Cell> cells_of(const std::vector<ComparedRun>& runs) {
  std::vector<Cell> cells;
  for (const ComparedRun& run : runs) {
    const ComparedRun* last = cells.empty() ? nullptr : cells.back().runs.front();
    const bool same =
        last != nullptr && last->pipeline == run.pipeline && last->policy == run.policy;
    if (!same) cells.emplace_back();
    cells.back().runs.push_back(&run);
  }
  return cells;
}

std::string after_30_of(const Cell& cell) {
  if (!cell.runs.front()->figures.ratio_after_30) return "-";
  return format_number(
      cell.mean([](const ComparedRun& run) { return run.figures.ratio_after_30.value_or(0); }), 3);
}

std::string decisions_of(const Cell& cell) {
  std::vector<std::optional<std::uint64_t>> all;
  for (const ComparedRun* run : cell.runs) all.push_back(run->figures.decisions_to_95);
  return decisions(tuner::median_of_reached(all));
}

std::vector<std::string> row_of(const Cell& cell) {
  const ComparedRun& first = *cell.runs.front();
  const auto mean = [&](auto value, int digits) { return format_number(cell.mean(value), digits); };
  return {first.pipeline,
          format_number(first.bottleneck_share, 2),
          first.policy,
          mean([](const ComparedRun& run) { return run.figures.ratio_overall; }, 3),
          after_30_of(cell),
          decisions_of(cell),
          mean([](const ComparedRun& run) { return run.figures.actors; }, 1),
          std::to_string(first.figures.actors_fewest),
          mean([](const ComparedRun& run) { return run.figures.cpus_used; }, 1),
          format_size(cell.peak()),
          format_size(first.memory_limit),
          cell.dead() == 0 ? "-" : std::to_string(cell.dead())};
}

}  // namespace

std::string text_of(const Table& table) {
  if (table.rows.empty()) return {};
  std::vector<std::vector<std::string>> all = {table.header};
  all.insert(all.end(), table.rows.begin(), table.rows.end());
  std::string text = table.title + "\n";
  for (const std::string& line : align_columns(all)) text += "  " + line + "\n";
  return text;
}

std::string markdown_of(const Table& table) {
  if (table.rows.empty()) return {};
  std::string text = "## " + table.title + "\n\n" + markdown_row(table.header);
  text += markdown_row(std::vector<std::string>(table.header.size(), "---"));
  for (const auto& row : table.rows) text += markdown_row(row);
  return text + "\n";
}

std::string html_of(const Table& table) {
  if (table.rows.empty()) return {};
  std::string text = "<h2>" + html_escaped(table.title) + "</h2>\n<table>\n";
  text += html_row(table.header, "th");
  for (const auto& row : table.rows) text += html_row(row, "td");
  return text + "</table>\n";
}

std::string html_escaped(std::string text) {
  constexpr std::array<std::pair<const char*, const char*>, 4> kEscapes = {
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}}};
  for (const auto& [letter, escape] : kEscapes) text = replaced(std::move(text), letter, escape);
  return text;
}

Table summary_table(const ComparisonResult& result) {
  Table table{
      "Policies over all runs",
      {"policy", "overall: mean", "median", "p5", "after 30: mean", "median", "p5", "95 % at",
       "never", "out of memory", "actors/fewest", "memory", "most", "CPU/decision"}};
  for (const PolicySummary& summary : result.summaries) {
    std::vector<std::string> row = {summary.policy};
    add_distribution(row, summary.ratio_overall);
    add_distribution(row, summary.ratio_after_30);
    row.insert(row.end(),
               {decisions(summary.decisions_to_95), std::to_string(summary.never_95),
                std::to_string(summary.out_of_memory) + " of " + std::to_string(summary.runs),
                format_number(summary.actors_over_fewest, 2), percent(summary.memory_share),
                percent(summary.memory_share_most), micros(summary.seconds_per_decision)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table recovery_table(const ComparisonResult& result) {
  Table table{"After events", {"policy", "events", "95 % again at", "never"}};
  for (const PolicySummary& summary : result.summaries) {
    if (summary.recoveries == 0) continue;
    table.rows.push_back({summary.policy, std::to_string(summary.recoveries),
                          decisions(summary.recovery_decisions),
                          std::to_string(summary.never_recovered)});
  }
  return table;
}

Table pipeline_table(const ComparisonResult& result) {
  Table table{"Pipelines, means over seeds",
              {"pipeline", "s", "policy", "overall", "after 30", "95 % at", "actors", "fewest",
               "CPUs", "peak memory", "limit", "out of memory"}};
  for (const Cell& cell : cells_of(result.runs)) table.rows.push_back(row_of(cell));
  return table;
}

Table gap_table(const ComparisonResult& result) {
  Table table{"Where intune is behind",
              {"pipeline", "measure", "behind", "by", "intune", "the other", "cause"}};
  for (const tuner::Gap& gap : result.gaps) {
    table.rows.push_back({gap.pipeline, gap.measure, gap.rival, format_number(gap.by(), 3),
                          format_number(gap.ours, 3), format_number(gap.theirs, 3), gap.cause});
  }
  return table;
}

}  // namespace forebay
