#include "tools/compare/report.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

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

namespace fs = std::filesystem;

constexpr std::size_t kMostPlots = 16;  // pipelines; each takes some seconds and up to a megabyte
constexpr const char* kFiles[] = {"runs.csv", "trace.csv", "report.md", "index.html", "plots"};

Status cannot_write(const fs::path& path) {
  return fail(Code::kUnavailable, path.string() + " cannot be written: " + std::strerror(errno));
}

Status write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return file ? Status() : cannot_write(path);
}

bool is_report(const fs::path& folder) {
  std::ifstream file(folder / "report.md");
  std::string first;
  return std::getline(file, first) && first == kReportMark;
}

/// Returns the pipelines to plot: all if there are few, else those on which intune is most behind,
/// then the first ones.
std::vector<std::string> plotted(const ReportContent& content) {
  std::set<std::string> run;
  for (const auto& each : content.result.runs) run.insert(each.pipeline);
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (run.contains(name) && std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  if (run.size() > kMostPlots) {
    for (const tuner::Gap& gap : content.result.gaps) add(gap.pipeline);
  }
  for (const auto& model : content.pipelines) add(model.name);
  names.resize(std::min(names.size(), kMostPlots));
  return names;
}

void remove_old_plots(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder / "plots", ignored)) {
    if (entry.path().extension() == ".svg") fs::remove(entry.path(), ignored);
  }
}

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

std::vector<std::string> report_files(const std::string& folder) {
  std::vector<std::string> files;
  for (const char* name : {"runs.csv", "trace.csv", "report.md", "index.html"}) {
    files.push_back((fs::path(folder) / name).string());
  }
  return files;
}

Status prepare_report(const std::string& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) return fail(Code::kInvalid, "--report " + folder + ": " + problem.message());
  if (!is_report(folder)) {
    for (const char* name : kFiles) {
      if (!fs::exists(fs::path(folder) / name, problem)) continue;
      return fail(Code::kInvalid, "--report " + folder + ": holds a " + name +
                                      " that is not of a report of forebay; name another folder");
    }
  }
  // The mark, written first, identifies the folder as a report's and shows that it is writable.
  if (auto written = write_text(fs::path(folder) / "report.md", std::string(kReportMark) + "\n");
      !written) {
    return fail(Code::kInvalid, "--report " + folder + ": " + written.error().message);
  }
  return {};
}

Result<ReportNotes> write_report(const std::string& folder, const ReportContent& content,
                                 const std::atomic<bool>& stop) {
  const fs::path place = folder;
  const ComparisonResult& result = content.result;
  auto written = write_text(place / "runs.csv", runs_csv(result));
  if (written) written = write_text(place / "trace.csv", trace_csv(result, content.pipelines));
  if (!written) return pass(written);
  remove_old_plots(place);
  ReportPages pages{.title = content.title,
                    .tables = {summary_table(result), recovery_table(result), gap_table(result),
                               pipeline_table(result)}};
  const std::vector<std::string> pipelines = plotted(content);
  if (auto plots = draw_plots(folder, pipelines, stop); plots) {
    pages.plots = plots_of(*plots, pipelines);
    if (pipelines.size() < content.pipelines.size()) {
      pages.notes.push_back("plots are of " + std::to_string(pipelines.size()) + " of " +
                            std::to_string(content.pipelines.size()) + " pipelines");
    }
  } else {
    pages.notes.push_back(plots.error().message);
  }
  written = write_text(place / "report.md", markdown_of(pages));
  if (written) written = write_text(place / "index.html", html_of(pages));
  if (!written) return pass(written);
  return pages.notes;
}

}  // namespace forebay
