#include "tools/compare/report_pages.h"

#include "engine/job/quantity.h"

namespace forebay {
namespace {

constexpr const char* kReading =
    "A ratio is the splits trained over what the best fixed allocation, the oracle, trains in that "
    "time. 95 % at: the first decision (one every 2 s) from which on three periods together make "
    "95 % of the oracle, median. actors/fewest: actors of the last ten periods over the oracle's, "
    "median. memory: peak over the limit, mean and most. s: the largest share of a stage in the "
    "CPU work. p5: the 5th percentile. runs.csv holds every run, trace.csv every period.";

constexpr const char* kStyle =
    "body{font:14px/1.4 system-ui,sans-serif;margin:2em;max-width:90em}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{text-align:left;padding:.2em .8em;border-bottom:1px solid #ddd}"
    "img{max-width:100%;height:auto}";

}  // namespace

std::vector<ReportPlot> plots_of(const std::vector<std::string>& files,
                                 const std::vector<std::string>& pipelines) {
  std::vector<ReportPlot> plots;
  for (const std::string& file : files) {
    const auto number = parse_count(file.substr(0, file.find('.')));
    const bool known = number && *number >= 1 && *number <= pipelines.size();
    plots.push_back(
        {known ? "Pipeline " + pipelines[*number - 1] : "All policies", "plots/" + file});
  }
  return plots;
}

std::string markdown_of(const ReportPages& pages) {
  std::string text = std::string(kReportMark) + "\n# " + pages.title + "\n\n" + kReading + "\n\n";
  for (const std::string& note : pages.notes) text += "- " + note + "\n";
  if (!pages.notes.empty()) text += "\n";
  for (const Table& table : pages.tables) text += markdown_of(table);
  for (const ReportPlot& plot : pages.plots) {
    text += "## " + plot.title + "\n\n![" + plot.title + "](" + plot.file + ")\n\n";
  }
  return text;
}

std::string html_of(const ReportPages& pages) {
  const std::string title = html_escaped(pages.title);
  std::string text = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
                     title + "</title>\n<style>" + kStyle + "</style></head>\n<body>\n<h1>" +
                     title + "</h1>\n<p>" + kReading + "</p>\n";
  for (const std::string& note : pages.notes) text += "<p>" + html_escaped(note) + "</p>\n";
  for (const Table& table : pages.tables) text += html_of(table);
  for (const ReportPlot& plot : pages.plots) {
    const std::string name = html_escaped(plot.title);
    text += "<h2>" + name + "</h2>\n";
    text += "<img src=\"" + plot.file + "\" alt=\"" + name + "\">\n";
  }
  return text + "</body></html>\n";
}

}  // namespace forebay
